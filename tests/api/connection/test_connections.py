"""Connections of a worker: their limits by the settings, and when their bytes came."""

from __future__ import annotations

from service.api.connection.connections import connection_limits
from service.settings import Settings


def test_the_settings_limits_are_a_workers_within_its_open_files() -> None:
    limits = connection_limits(Settings(max_connections=100, deadline_ms=5_000), 20_000)
    assert (limits.connections, limits.health_only_connections, limits.deadline_seconds) == (100, 25, 5.0)
    assert connection_limits(Settings(max_connections=4_096), 100).connections == 16


def test_a_single_body_always_fits() -> None:
    assert connection_limits(Settings(max_document_bytes=2**29), 20_000).held_bytes == 3 * 2**30
