"""Scenarios define the load: TOML files, arrivals, traces, and seeded requests."""
