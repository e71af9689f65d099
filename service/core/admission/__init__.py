"""Admission: whether work is admitted, waits or is refused, and with which `Retry-After`."""
