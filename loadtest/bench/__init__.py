"""The figures of BENCHMARKS.md, each printed by one command: `make bench`."""
