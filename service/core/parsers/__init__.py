"""Whose file is parsed next, and at which cost: decisions, with time passed in."""
