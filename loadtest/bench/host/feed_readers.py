"""Stand-ins for open consoles: plain sockets that ask for the live feed, and drop what comes.

They run in a process of their own, so that neither the client's clock nor the service's share of processor time holds
what a browser would do on another machine.
"""

from __future__ import annotations

import multiprocessing
import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection

REQUEST = b"GET /console/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
OPENED_SECONDS = 30.0
MOST_READ_BYTES = 1 << 20


class FeedClosed(AssertionError):
    """A feed that was not let in, or ended before its reader did."""


@contextmanager
def open_consoles(port: int, count: int) -> Iterator[None]:
    """So many readers of a service's live feed, each of which has had its first event when the context begins.

    Raises:
        FeedClosed: one of them was refused, or ended early.
    """
    if not count:
        yield
        return
    ours, theirs = multiprocessing.Pipe()
    reader = multiprocessing.get_context("spawn").Process(target=_read, args=(port, count, theirs))
    reader.start()
    theirs.close()
    try:
        if not _says_well(ours):
            raise FeedClosed(f"{count} consoles could not be opened")
        yield
        with suppress(BrokenPipeError):  # of readers that ended before us; what they said is still there to be read
            ours.send("end")
        if not _says_well(ours):
            raise FeedClosed("a console's feed ended early")
    finally:
        reader.terminate()
        reader.join()


def _says_well(reader: Connection) -> bool:
    """What the readers say of their feeds; False when they say nothing, or are gone."""
    try:
        return reader.poll(OPENED_SECONDS) and reader.recv() is True
    except EOFError:
        return False


def _read(port: int, count: int, caller: Connection) -> None:
    """Open them, say so, and drop what comes until the caller says enough; then say whether all of them lasted."""
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(count):
            feed = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            feed.sendall(REQUEST)
            head = b""
            while b"\ndata: " not in head:
                came = feed.recv(MOST_READ_BYTES)
                head += came
                if not came or not head.startswith(b"HTTP/1.1 200"[: len(head)]):
                    caller.send(False)
                    return
            selector.register(feed, selectors.EVENT_READ)
        selector.register(caller, selectors.EVENT_READ)
        caller.send(True)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            has_ended = any(isinstance(each, socket.socket) and not each.recv(MOST_READ_BYTES) for each in ready)
            if has_ended or caller in ready:  # Both at once: it ended before it was told to.
                caller.send(not has_ended)
                return
