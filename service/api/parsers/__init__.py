"""Parsers: files are read into documents in sandboxed processes. No HTTP."""
