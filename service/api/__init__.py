"""Floor 2: the front workers, which speak HTTP, parse, tokenize and decode; the only place that imports fastapi."""
