"""A fleet in simulation: arrivals → tasks → metrics → the deployed policy → instances → cost. Seeded; nothing waits."""
