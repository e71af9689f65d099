"""Engine client of a worker: submission, resubmission and model routing."""
