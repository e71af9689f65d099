"""An S3 server and a proxy that injects faults into its responses, for tests and benchmarks."""
