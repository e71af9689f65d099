"""Ports that are kept for servers which have not started yet."""

from __future__ import annotations

import http.server
import socket
from pathlib import Path

import pytest

from loadtest.service_process.ports import KeptPort

MANY = 500


def any_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_who_asks_for_any_port_is_given_no_kept_one() -> None:
    kept = [KeptPort() for _ in range(MANY)]
    numbers = {port.number for port in kept}
    assert len(numbers) == MANY
    assert numbers.isdisjoint(any_port() for _ in range(10 * MANY))


def test_a_server_that_asks_for_it_listens_there_and_until_then_nobody_does() -> None:
    port = KeptPort()
    address = ("127.0.0.1", port.number)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    with (
        http.server.HTTPServer(address, http.server.BaseHTTPRequestHandler),
        socket.create_connection(address) as caller,
    ):
        assert caller.getpeername() == address


def test_it_is_given_back_when_nobody_holds_it() -> None:
    before = open_files()
    port = KeptPort()
    assert open_files() == before + 1
    del port
    assert open_files() == before
