"""The engine's socket, and the ways for other threads onto its loop's thread."""
