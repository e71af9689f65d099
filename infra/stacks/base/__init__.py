"""The base stack: network, image repository, model bucket, keys."""
