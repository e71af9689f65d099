"""The benchmarks of BENCHMARKS.md, all run by `make bench`."""
