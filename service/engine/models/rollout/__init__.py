"""How a revision is brought up, at start-up and in a running engine, and what is left of it if the engine dies."""
