"""What a fleet is scaled and watched by: the signals as data, and their values from snapshots of the metrics. Pure."""
