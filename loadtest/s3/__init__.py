"""An S3 server and a proxy that spoils its answers, for tests and benchmarks."""
