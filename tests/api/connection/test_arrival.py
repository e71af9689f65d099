"""When bytes arrived, as the kernel says it."""

from __future__ import annotations

from service.api.connection.socket_timestamps import TcpInfo


def test_no_arrival_is_known_of_what_is_no_socket() -> None:
    assert TcpInfo().waited_seconds(-1) == 0.0
