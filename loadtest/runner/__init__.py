"""One load test: the service, the generator processes, the samples."""
