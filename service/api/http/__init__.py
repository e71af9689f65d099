"""HTTP in and out: API keys, request bodies, responses."""
