"""Load tests, benchmarks, chaos, a test of autoscaling and a simulator of fleets. They use a service over HTTP."""
