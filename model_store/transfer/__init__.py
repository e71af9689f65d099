"""Revisions between stores: publish, push, pull, roll back."""
