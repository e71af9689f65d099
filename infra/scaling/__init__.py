"""The scaling policy and its alarms as data, limits, capacity and costs."""
