"""The limits of a worker's connections that the settings set."""

from __future__ import annotations

from service.core.connections.limits import ConnectionLimits, connections_within
from service.settings import Settings


def connection_limits(settings: Settings, open_files: int) -> ConnectionLimits:
    """The limits that the settings set on a worker which may open so many files."""
    return ConnectionLimits(
        connections=connections_within(settings.max_connections, open_files),
        body_bytes=settings.max_request_bytes,
        held_bytes=settings.max_held_bytes,
        idle_seconds=float(settings.keep_alive_seconds),
        deadline_seconds=settings.deadline_ms / 1000,
    )
