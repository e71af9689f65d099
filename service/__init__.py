"""Gleaner's service: one supervisor, one engine that owns the GPU, and API workers that speak HTTP."""
