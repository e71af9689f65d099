"""The scaling policy as data, the alarms, and what the cloud would make of them."""
