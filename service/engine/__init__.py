"""Floor 2: the process that owns the device, and the only place that imports torch."""
