"""Other servers and transformers' pipeline, each as a program that the benchmark starts."""
