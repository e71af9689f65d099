"""What is sent and when: scenarios in TOML, arrivals, traces, and seeded requests."""
