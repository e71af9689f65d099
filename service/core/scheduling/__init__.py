"""Which document runs next, which is refused, and what the queue holds: decisions without a clock."""
