"""The HTTP client of a generator process, and the open loop that sends on schedule."""
