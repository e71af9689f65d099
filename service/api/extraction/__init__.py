"""Extraction: a document in a worker from its bytes to its entities. No HTTP."""
