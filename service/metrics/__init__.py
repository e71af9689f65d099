"""Prometheus metrics: names, help texts, labels and buckets by process, and the sum over all processes."""
