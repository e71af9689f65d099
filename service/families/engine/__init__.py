"""What the engine halves of families share; only the engine imports it, and torch with it."""
