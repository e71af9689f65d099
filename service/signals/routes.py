"""The routes that ask for work, as metrics name them: what scaling, alarms and refusals at accept count as requests.

All others (`/livez`, `/models`, a door's own health checks …) cost next to nothing and say nothing of the load.
"""

from __future__ import annotations

OWN_WORK_ROUTES = frozenset(("/extract", "/redact"))
DOOR_ROUTES = frozenset(("huggingface", "sagemaker", "oip", "oip-grpc", "comprehend", "presidio", "mcp"))
"""Of other people's protocols; a door's name is its route."""
WORK_ROUTES = OWN_WORK_ROUTES | DOOR_ROUTES
OTHER = "other"
"""The name of a route that asks for no work and has no name of its own."""
