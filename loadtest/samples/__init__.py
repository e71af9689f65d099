"""Sample documents with invented content, for the README, for experiments, and for load."""
