"""Recognizes the characters in a page's picture (OCR): pictures in, words with boxes and confidence out."""
