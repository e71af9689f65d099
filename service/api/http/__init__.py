"""What comes in and goes out by HTTP: keys, bodies, answers."""
