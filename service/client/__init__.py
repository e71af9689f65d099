"""The Python client of a running service; people import it as `gleaner`. httpx and msgspec, nothing of the service."""
