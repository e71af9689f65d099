"""The scaling policy and its alarms as data, and CloudWatch's and Auto Scaling's rules over them."""
