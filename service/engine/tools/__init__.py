"""Command-line tools that run parts of an engine without a service: `python -m service.engine.tools.…`."""
