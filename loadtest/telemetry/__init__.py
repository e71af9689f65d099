"""What the service says of itself while it is under load."""
