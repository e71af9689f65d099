"""Gleaner's service: one supervisor, one engine that owns the GPU, and front workers that speak HTTP."""
