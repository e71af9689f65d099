"""Transfer moves revisions and tags between folders and stores: publishes, pushes, pulls, resolves, rolls back."""
