"""How much a service can carry within its service level, and what follows from it."""
