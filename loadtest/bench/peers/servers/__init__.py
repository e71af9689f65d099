"""The peers: other servers and transformers' pipeline, each a program that the benchmark starts."""
