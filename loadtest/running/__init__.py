"""The processes of a load test: generators, the service under test, and those that watch it."""
