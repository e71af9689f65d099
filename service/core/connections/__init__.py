"""Connection rules: how many may be open, and how large and slow their messages may be. Pure decisions."""
