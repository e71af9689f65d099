"""What one load test is made of: a TOML file and its meaning."""
