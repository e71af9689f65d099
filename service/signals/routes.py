"""Names of the routes for work in metrics, of the protocol adapters, and the public paths of each. Data.

Scaling, alarms and refusals at accept count requests of the routes for work. All others (`/livez`, `/models`, an
adapter's health checks …) cost next to nothing and say nothing of the load.
"""

from __future__ import annotations

from typing import NamedTuple

OWN_WORK_ROUTES = frozenset(("/extract", "/redact"))
ALWAYS_PUBLIC = (*sorted(OWN_WORK_ROUTES), "/readyz")
"""Paths that a balancer hands on whichever adapters are open. All others it answers with 404, so that metrics, models
and docs never leave the network."""


class PublicPaths(NamedTuple):
    """Patterns of the paths that a balancer hands on for one adapter; with `posts_only` only requests by POST.

    An adapter that answers at `/` is handed on by POST alone, since a GET of `/` is the console.
    """

    paths: tuple[str, ...]
    posts_only: bool = True


ADAPTERS: dict[str, PublicPaths | None] = {
    "huggingface": PublicPaths(("/", "/models/*")),
    "sagemaker": PublicPaths(("/invocations", "/endpoints/*")),
    "oip": PublicPaths(("/v2", "/v2/*"), posts_only=False),
    "comprehend": PublicPaths(("/", "/service/*")),
    "presidio": PublicPaths(
        ("/analyze", "/anonymize", "/supportedentities", "/recognizers", "/anonymizers"), posts_only=False
    ),
    "gliner": PublicPaths(("/gliner", "/gliner/*")),
    "gliner2": PublicPaths(("/gliner-2", "/*/gliner-2")),
    "mcp": None,
}
"""All protocol adapters. None: not behind a balancer, as its extra is not in the image. Neither are `/ping` and
`/health`, as the balancer asks `/readyz`."""
PUBLIC_ADAPTERS = {name: paths for name, paths in ADAPTERS.items() if paths is not None}
WORK_ROUTES = frozenset((*OWN_WORK_ROUTES, *ADAPTERS))
"""Names of the routes that extract: the service's own, and an adapter's by the adapter's name."""
OTHER = "other"
"""The name of a route that extracts nothing and has no name of its own."""
