"""Benchmarks of the load generator itself."""
