"""One record per request: read from its reply, kept in columns, stored in files."""
