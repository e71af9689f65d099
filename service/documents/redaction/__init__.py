"""Redaction of PDF files: their content is rewritten without what goes, then read again to prove that it is gone."""
