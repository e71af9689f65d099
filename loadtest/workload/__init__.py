"""The workload: seeded documents of many kinds and lengths, as request bodies."""
