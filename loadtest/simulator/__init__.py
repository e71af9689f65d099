"""Simulator of a fleet: one task by events, the fleet by the second, under a deployed scaling policy."""
