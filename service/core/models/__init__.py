"""Which revision a name stands for, and whose weights are on the device."""
