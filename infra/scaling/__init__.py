"""The scaling policy and its alarms as data, and a simulator of CloudWatch and Auto Scaling over them."""
