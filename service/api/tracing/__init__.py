"""Spans of requests: made when one has been answered, of the times that were taken anyway. Off: nothing is imported."""
