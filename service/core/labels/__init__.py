"""The labels of a request, where they are free."""
