"""Benchmarks of one service: throughput, overhead, memory, start, revision switches."""
