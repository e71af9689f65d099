"""A worker's side of the engine: its connection, submission and resubmission, cached refusals, choice of the model."""
