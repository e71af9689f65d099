"""Floor 2: the API workers: HTTP, parsing, tokenizing, decoding. The only place that imports fastapi."""
