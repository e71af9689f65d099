"""The limits of one worker's connections, as values: sizes, counts and times. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SMALL_BODY_BYTES = 64 * 1024
"""Bodies up to this size are read and dropped after a refusal, so that their connection stays open."""
KEPT_FILES = 128
"""Open files that a worker keeps for all but connections: sockets, those it listens on in several, pipes, metrics."""
HEALTH_ONLY_SHARE = 0.25
"""Connections beyond the limit that may send a request, to be refused in its protocol, as a share of the limit."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of one worker's connections.

    Attributes:
        connections: most that are open at once; those beyond are answered 503 and closed.
        target_bytes: of the request's target, which is path and query.
        head_bytes: of request line and headers together, and of trailers.
        headers: their number.
        body_bytes: of one body.
        held_bytes: of all unfinished bodies and unread answers together.
        head_seconds: from the first byte of a head to its last, and for a connection's first request to begin.
        body_seconds: within such a time a body makes progress (`pace`).
        write_seconds: within such a time an answer is read on.
        idle_seconds: that a connection stays open between two requests.
        linger_seconds: how long what still comes is read after an answer that ends the connection (`linger`).
        deadline_seconds: of a request that names none.
    """

    connections: int = 4_096
    target_bytes: int = 16 * 1024
    head_bytes: int = 64 * 1024
    headers: int = 100
    body_bytes: int = 256 * 1024 * 1024
    held_bytes: int = 384 * 1024 * 1024
    head_seconds: float = 20.0
    body_seconds: float = 60.0
    write_seconds: float = 60.0
    idle_seconds: float = 75.0
    linger_seconds: float = 3.0
    deadline_seconds: float = 300.0

    @property
    def health_only_connections(self) -> int:
        """Connections beyond the limit whose requests are read, to be refused in the words of their protocol."""
        return max(16, int(self.connections * HEALTH_ONLY_SHARE))


def connections_within(wanted: int, open_files: int) -> int:
    """The most connections, `wanted` or what the limit of open files leaves beside those beyond the limit."""
    spare = int((open_files - KEPT_FILES) / (1 + HEALTH_ONLY_SHARE))
    return max(16, min(wanted, spare))
