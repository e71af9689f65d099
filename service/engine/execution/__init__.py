"""Batches on the device: packed, run, split after a failure, pipelined or divided."""
