"""Benchmarks of the model store: pulls, cold starts, faults, kills."""
