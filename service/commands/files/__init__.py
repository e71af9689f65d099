"""What the commands over files share: a service to ask, here or elsewhere, and how its answers are shown."""
