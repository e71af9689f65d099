"""A real S3 server, and a proxy that counts bytes and breaks connections: for benchmarks and for tests."""
