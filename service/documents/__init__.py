"""Floor 1: readers that turn a file's bytes into a Document (text, pages, boxes); one module for each format."""
