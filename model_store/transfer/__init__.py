"""Moves revisions and tags between folders and stores: publish, push, pull, resolve, roll back."""
