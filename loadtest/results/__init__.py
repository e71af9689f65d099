"""What came of it: records of requests as columns, and everything that is computed from them. Pure."""
