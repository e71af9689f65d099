"""Bulk jobs: a plan of chunks, workers that write one part a chunk, and what is made of the parts at the end."""
