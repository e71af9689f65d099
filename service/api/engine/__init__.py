"""A worker's side of the engine: submission, resubmission, cached refusals, which model is meant."""
