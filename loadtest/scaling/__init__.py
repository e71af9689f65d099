"""A rehearsal of autoscaling: local services scaled by the real policy under a step of load."""
