"""What runs around the service: how the fleet scales, how it is scraped, when somebody is called, and the stacks."""
