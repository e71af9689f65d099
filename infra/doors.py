"""Which requests the balancer hands on for each door of the service that callers may use. Pure; data.

A listener's rule takes five values in all, so each door has a rule of its own. Doors that answer at `/` are handed on
by POST alone, since a GET of `/` is the console.
"""

from __future__ import annotations

from typing import NamedTuple

ALWAYS = ("/extract", "/redact", "/readyz")
"""What callers may ask whatever is open. All else is answered by the balancer with 404, so that metrics, models and
docs never leave the network."""
MOST_VALUES = 5
"""Of one rule, by the balancer's own limit."""


class DoorPaths(NamedTuple):
    """The paths of one door, as a rule's patterns; `posts_only`: other methods are not handed on."""

    paths: tuple[str, ...]
    posts_only: bool = True


DOOR_PATHS = {
    "huggingface": DoorPaths(("/", "/models/*")),
    "sagemaker": DoorPaths(("/invocations", "/endpoints/*")),
    "oip": DoorPaths(("/v2", "/v2/*"), posts_only=False),
    "comprehend": DoorPaths(("/", "/service/*")),
    "presidio": DoorPaths(
        ("/analyze", "/anonymize", "/supportedentities", "/recognizers", "/anonymizers"), posts_only=False
    ),
}
"""Not `mcp`, whose extra is not in the image; not gRPC, for which the balancer would need a listener of its own; and
neither `/ping` nor `/health`, as the balancer asks `/readyz`."""
