"""The knee: the highest rate within the service level, and the settings and scaling targets that follow from it."""
