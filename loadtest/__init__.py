"""Load tests, benchmarks and chaos, which use a service over HTTP, and a simulator of fleets."""
