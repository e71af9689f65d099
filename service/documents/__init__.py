"""Floor 1: bytes and a media type in, a Document (text, pages, boxes) out; one file each format."""
