"""Text to token ids and back to entities; the workers and the golden-example check share it."""
