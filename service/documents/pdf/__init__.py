"""A PDF's pages as words, lines and columns in reading order, with their boxes."""
