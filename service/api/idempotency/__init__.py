"""Requests that clients may send again: their answers are kept for a while, under a key of the client's choice."""
