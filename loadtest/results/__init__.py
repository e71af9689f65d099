"""Results: everything that is computed from the records of a run. Pure."""
