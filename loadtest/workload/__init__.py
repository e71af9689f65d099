"""What is asked: seeded documents of many kinds and lengths, as bytes that are ready to be sent."""
