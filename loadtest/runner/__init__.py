"""One run of a load test: the service under test, the generator processes, and both together."""
