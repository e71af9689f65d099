"""Where models live on disk: published under their digests, verified, found by name and tag."""
