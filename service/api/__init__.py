"""Floor 2: the front workers: HTTP, parsing, tokenizing, decoding. The only place that imports fastapi."""
