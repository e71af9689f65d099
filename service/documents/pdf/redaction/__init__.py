"""Takes characters out of a PDF: its content is rewritten, the rest cleaned, and the result read again."""
