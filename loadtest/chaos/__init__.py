"""Chaos: a service under random faults, and an oracle that knows the answer to every request."""
