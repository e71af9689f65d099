"""Signals by which a fleet is scaled and watched, as data, and their values from snapshots of the metrics. Pure."""
