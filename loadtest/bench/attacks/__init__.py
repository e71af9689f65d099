"""Every attack that was found on the service, and what others notice of it."""
