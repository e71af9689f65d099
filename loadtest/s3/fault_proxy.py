"""A proxy in front of an S3 server that counts what it passes on and breaks what it is told to break.

It speaks just enough HTTP/1.1. Every request may be given one fault, which breaks answers of a known length:

    Truncate    the answer's body ends early and the connection is closed
    Reset       the same, with a TCP reset
    Stall       the body stops, and the connection stays open without a word
    Flip        one byte of the body is another one
    Answer      an error instead of the server's answer
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO

PIECE_BYTES = 64 * 1024
_CODES = {403: "AccessDenied", 416: "InvalidRange", 500: "InternalError", 503: "SlowDown"}


@dataclass(frozen=True, slots=True)
class Truncate:
    after_bytes: int


@dataclass(frozen=True, slots=True)
class Reset:
    after_bytes: int


@dataclass(frozen=True, slots=True)
class Stall:
    after_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Flip:
    at_byte: int


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    code: str = ""


Fault = Truncate | Reset | Stall | Flip | Answer


@dataclass(frozen=True, slots=True)
class Request:
    """What the client wants: `path` with its query, and how many body bytes came with it."""

    method: str
    path: str
    body_bytes: int


Choose = Callable[[Request], Fault | None]


def no_fault(_request: Request) -> Fault | None:
    """The Choose of a proxy that only counts."""
    return None


@dataclass(slots=True)
class FaultProxy:
    """A running proxy. `choose` may be replaced at any time; counts are of bodies only."""

    upstream_port: int
    choose: Choose = no_fault
    port: int = 0
    sent_bytes: int = 0
    """Of answers, to the client."""
    received_bytes: int = 0
    """Of requests, from the client."""
    requests: list[Request] = field(default_factory=list)
    faults: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reset_counts(self) -> None:
        """Count from zero."""
        with self._lock:
            self.sent_bytes = self.received_bytes = self.faults = 0
            self.requests.clear()

    def serve(self, listener: socket.socket) -> None:
        """Accept until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def _converse(self, client: socket.socket) -> None:
        """One client's connection: request after request, each over a server connection that is kept too."""
        with suppress(OSError, _Hangup), closing(client), closing(socket.create_connection(self._upstream)) as server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            from_client, from_server = client.makefile("rb"), server.makefile("rb")
            while head := _read_head(from_client):
                self._exchange(head, client, server, from_client, from_server)

    @property
    def _upstream(self) -> tuple[str, int]:
        return "127.0.0.1", self.upstream_port

    def _exchange(
        self, head: bytes, client: socket.socket, server: socket.socket, from_client: IO[bytes], from_server: IO[bytes]
    ) -> None:
        method, path = head.split(b" ", 2)[:2]
        request = Request(method.decode(), path.decode(), _length(head))
        fault = self.choose(request)
        with self._lock:
            self.requests.append(request)
            self.received_bytes += request.body_bytes
            self.faults += fault is not None
        if isinstance(fault, Answer):
            for _ in _pieces(from_client, request.body_bytes):
                pass
            client.sendall(_error(fault, request.method))
            return
        server.sendall(_without_expect(head))
        if b"\r\nexpect:" in head.lower():
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        for piece in _pieces(from_client, request.body_bytes):
            server.sendall(piece)
        self._answer(request, fault, client, from_server)

    def _answer(self, request: Request, fault: Fault | None, client: socket.socket, from_server: IO[bytes]) -> None:
        head = _read_head(from_server)
        while head.startswith(b"HTTP/1.1 100"):
            head = _read_head(from_server)
        if not head:
            raise _Hangup
        length = 0 if request.method == "HEAD" or b" 204 " in head[:16] or b" 304 " in head[:16] else _length(head)
        client.sendall(head)
        if b"\r\ntransfer-encoding: chunked" in head.lower():
            _pass_chunks(from_server, client)
        done = 0
        for piece in _pieces(from_server, length):
            data = _broken(piece, done, fault, client)
            client.sendall(data)
            done += len(piece)
            with self._lock:
                self.sent_bytes += len(data)
            if isinstance(fault, Truncate | Reset | Stall) and done > fault.after_bytes:
                raise _Hangup


@contextmanager
def fault_proxy(upstream_port: int, choose: Choose = no_fault) -> Iterator[FaultProxy]:
    """A proxy on a port chosen by the system, as long as the context lasts."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=128)) as listener:
        proxy = FaultProxy(upstream_port, choose, listener.getsockname()[1])
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)


class _Hangup(Exception):
    """The conversation is over."""


def _broken(piece: bytes, done: int, fault: Fault | None, client: socket.socket) -> bytes:
    """What is left of a piece that begins at byte `done` of the body."""
    match fault:
        case Flip(at) if done <= at < done + len(piece):
            return piece[: at - done] + bytes([piece[at - done] ^ 1]) + piece[at - done + 1 :]
        case Truncate(after) if done + len(piece) > after:
            return piece[: max(0, after - done)]
        case Reset(after) if done + len(piece) > after:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        case Stall(after, seconds) if done + len(piece) > after:
            client.sendall(piece[: max(0, after - done)])
            time.sleep(seconds)
            return b""
        case _:
            return piece


def _error(fault: Answer, method: str) -> bytes:
    code = fault.code or _CODES[fault.status]
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>by the fault proxy</Message></Error>".encode()
    head = f"HTTP/1.1 {fault.status} {code}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + (b"" if method == "HEAD" else body)


def _read_head(source: IO[bytes]) -> bytes:
    """A request's or an answer's head with its empty line; empty at the end of the connection."""
    lines = []
    while (line := source.readline(65_536)) not in (b"", b"\r\n"):
        lines.append(line)
    return b"".join(lines) + b"\r\n" if lines and line else b""


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def _pass_chunks(source: IO[bytes], client: socket.socket) -> None:
    """A body of chunks as it is, to its end: only short answers come in chunks."""
    size = -1
    while size:
        line = source.readline()
        size = int(line.split(b";")[0], 16)
        client.sendall(line + source.read(size + 2))


def _without_expect(head: bytes) -> bytes:
    return b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect:"))


def _pieces(source: IO[bytes], count_bytes: int) -> Iterator[bytes]:
    while count_bytes:
        piece = source.read(min(PIECE_BYTES, count_bytes))
        if not piece:
            raise _Hangup
        count_bytes -= len(piece)
        yield piece
