"""HTTP requests and responses: API keys, rate limits, bodies, answers."""
