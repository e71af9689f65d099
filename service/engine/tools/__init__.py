"""Command-line tools that run an engine's parts without a service (python -m service.engine.tools.…)."""
