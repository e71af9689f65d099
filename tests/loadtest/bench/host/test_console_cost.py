"""The consoles' stand-ins read what a console is told, and notice a feed that is none; pairs are compared as pairs."""

from __future__ import annotations

import multiprocessing
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loadtest.bench.host.console_cost import changes
from loadtest.bench.host.feed_readers import FeedClosed, open_consoles
from tests.support.service import wait_until

EVENTS = b"HTTP/1.1 200 OK\r\n\r\nretry: 2000\n\ndata: {}\n\n"


class Feeds:
    """A service that says the same to whoever connects, and then nothing more."""

    def __init__(self, answer: bytes, *, ends: bool) -> None:
        self._answer = answer
        self._ends = ends
        self.asked: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.ended = threading.Event()

    def serve(self) -> None:
        """Answer until the listener is closed."""
        try:
            while True:
                feed, _ = self.listener.accept()
                self.asked.append(feed.recv(65_536))
                feed.sendall(self._answer)
                if self._ends:
                    feed.close()
                    self.ended.set()
                self._open.append(feed)
        except OSError:
            for each in self._open:
                each.close()


@contextmanager
def feeds(answer: bytes, *, ends: bool = False) -> Iterator[tuple[int, Feeds]]:
    """Its port, while it runs."""
    served = Feeds(answer, ends=ends)
    thread = threading.Thread(target=served.serve)
    thread.start()
    try:
        yield served.listener.getsockname()[1], served
    finally:
        served.listener.shutdown(socket.SHUT_RDWR)
        served.listener.close()
        thread.join()


def test_so_many_consoles_are_open_as_are_asked_for() -> None:
    with feeds(EVENTS) as (port, served):
        with open_consoles(port, 3):
            assert [each.partition(b" HTTP")[0] for each in served.asked] == [b"GET /console/live"] * 3
        with open_consoles(port, 0):
            assert len(served.asked) == 3


@pytest.mark.parametrize("answer", [b"HTTP/1.1 401 Unauthorized\r\n\r\n", EVENTS])
def test_a_feed_that_is_refused_or_ends_spoils_the_round(answer: bytes) -> None:
    with feeds(answer, ends=True) as (port, served), pytest.raises(FeedClosed), open_consoles(port, 1):
        assert served.ended.wait(30.0)


def test_readers_that_were_gone_before_they_were_asked_to_end_spoil_it_too() -> None:
    with feeds(EVENTS, ends=True) as (port, _), pytest.raises(FeedClosed), open_consoles(port, 1):
        wait_until(lambda: not multiprocessing.active_children())


def test_each_pair_is_compared_before_the_median_is_taken() -> None:
    pairs = [(1.0, 1.1), (2.0, 2.2), (4.0, 4.0), (8.0, 8.8), (16.0, 17.6)]
    assert changes(pairs) == pytest.approx((0.1, 0.1, 0.1))
    assert changes([(1.0, 0.9), (1.0, 1.0), (1.0, 1.2)]) == pytest.approx((-0.05, 0.0, 0.1))
