"""Documents that the project made itself, for the README, for trying things out, and for load."""
