"""Takes characters out of a PDF: its pages' content streams rewritten, the rest of the file cleaned, the result read again."""
