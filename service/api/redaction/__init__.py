"""POST /redact: the entities that /extract finds, taken out of their texts and files."""
