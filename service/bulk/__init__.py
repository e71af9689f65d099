"""Bulk jobs: a plan of chunks, workers that write one part a chunk, and outputs made of the parts at the end."""
