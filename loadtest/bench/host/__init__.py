"""What the host spends: on a document, a console, a door, a page."""
