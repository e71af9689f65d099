"""Scenarios: load tests described in TOML files."""
