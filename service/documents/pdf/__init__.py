"""The PDF reader: from pdfium's characters to words, lines and columns in reading order, with boxes."""
