"""Who may connect, what is taken on and when it begins, and how slow or large a message may be: decisions."""
