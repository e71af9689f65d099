"""Memory of the device at hand: read, profiled, and guarded."""
