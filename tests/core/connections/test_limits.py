"""The limit of connections leaves room for other files, and for those who are told that it is reached."""

from __future__ import annotations

from service.core.connections.limits import ConnectionLimits, connections_within


def test_connections_fit_the_limit_of_open_files() -> None:
    assert connections_within(4_096, 20_000) == 4_096
    assert connections_within(4_096, 1_024) + connections_within(4_096, 1_024) // 4 + 128 <= 1_024
    assert connections_within(4_096, 100) == 16


def test_some_connections_beyond_the_limit_may_say_what_they_want() -> None:
    assert [ConnectionLimits(connections=count).health_only_connections for count in (16, 100, 4_096)] == [
        16,
        25,
        1_024,
    ]
