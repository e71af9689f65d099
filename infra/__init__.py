"""What runs around the service: how it is scraped, and when somebody is called. Never imports the service."""
