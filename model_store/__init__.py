"""The model store: keeps models on disk and in buckets under their digests, and finds them by name and tag."""
