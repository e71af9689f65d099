"""The faults that a proxy can put into an S3 server's responses, for requests that a test or benchmark chooses.

    Truncate         the body ends early and the connection is closed
    Reset            the body ends early with a TCP reset
    Stall            the body stops for a while, and then the connection is closed
    Flip             one byte of the body is changed
    ErrorResponse    an error instead of the server's response

Bodies are only broken if their length is known.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import IO

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
class ErrorResponse:
    status: int
    code: str = ""


Fault = Truncate | Reset | Stall | Flip | ErrorResponse


@dataclass(frozen=True, slots=True)
class ProxiedRequest:
    """A client's request: `path` with its query, and the size of its body."""

    method: str
    path: str
    body_bytes: int


ChooseFault = Callable[[ProxiedRequest], Fault | None]


def no_fault(_request: ProxiedRequest) -> Fault | None:
    """A ChooseFault that never chooses one."""
    return None


def break_piece(piece: bytes, start: int, fault: Fault | None, client: socket.socket) -> bytes:
    """The bytes to send for a piece that begins at byte `start` of the body; Stall and Reset act on the connection."""
    match fault:
        case Flip(at) if start <= at < start + len(piece):
            return piece[: at - start] + bytes([piece[at - start] ^ 1]) + piece[at - start + 1 :]
        case Truncate(after) if start + len(piece) > after:
            return piece[: max(0, after - start)]
        case Reset(after) if start + len(piece) > after:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        case Stall(after, seconds) if start + len(piece) > after:
            client.sendall(piece[: max(0, after - start)])
            time.sleep(seconds)
            return b""
        case _:
            return piece


def error_bytes(fault: ErrorResponse, method: str) -> bytes:
    """The HTTP response of an ErrorResponse."""
    code = fault.code or _CODES[fault.status]
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>by the fault proxy</Message></Error>".encode()
    head = f"HTTP/1.1 {fault.status} {code}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + (b"" if method == "HEAD" else body)


PIECE_BYTES = 64 * 1024
_CONDITION = re.compile(rb"\r\nif-(none-)?match:", re.IGNORECASE)


@dataclass(slots=True)
class FaultProxy:
    """A running proxy. `choose` may be replaced at any time.

    Attributes:
        sent_bytes: in bodies of responses, to clients.
    """

    upstream_port: int
    choose: ChooseFault = no_fault
    port: int = 0
    sent_bytes: int = 0
    requests: list[ProxiedRequest] = field(default_factory=list)
    faults: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _write_locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, listener: socket.socket) -> None:
        """Accept connections until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve_client, args=(client,), daemon=True).start()

    def _serve_client(self, client: socket.socket) -> None:
        """Forward one client's requests over one connection to the server, until either side closes."""
        upstream = ("127.0.0.1", self.upstream_port)
        with suppress(OSError, _Disconnected), closing(client), closing(socket.create_connection(upstream)) as server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            from_client, from_server = client.makefile("rb"), server.makefile("rb")
            while head := _read_head(from_client):
                self._exchange(head, client, server, from_client, from_server)

    def _exchange(
        self, head: bytes, client: socket.socket, server: socket.socket, from_client: IO[bytes], from_server: IO[bytes]
    ) -> None:
        method, path = head.split(b" ", 2)[:2]
        request = ProxiedRequest(method.decode(), path.decode(), _length(head))
        fault = self.choose(request)
        with self._lock:
            self.requests.append(request)
            self.faults += fault is not None
        if isinstance(fault, ErrorResponse):
            for _ in _pieces(from_client, request.body_bytes):
                pass
            client.sendall(error_bytes(fault, request.method))
            return
        with self._atomic(request, head):
            server.sendall(_without_expect(head))
            if b"\r\nexpect:" in head.lower():
                client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            for piece in _pieces(from_client, request.body_bytes):
                server.sendall(piece)
            self._respond(request, fault, client, from_server)

    def _atomic(self, request: ProxiedRequest, head: bytes) -> AbstractContextManager[object]:
        """A lock for the key of a conditional write."""
        if request.method != "PUT" or not _CONDITION.search(head):
            return nullcontext()
        with self._lock:
            return self._write_locks[request.path]

    def _respond(
        self, request: ProxiedRequest, fault: Fault | None, client: socket.socket, from_server: IO[bytes]
    ) -> None:
        head = _read_head(from_server)
        while head.startswith(b"HTTP/1.1 100"):
            head = _read_head(from_server)
        if not head:
            raise _Disconnected
        length = 0 if request.method == "HEAD" or b" 204 " in head[:16] or b" 304 " in head[:16] else _length(head)
        client.sendall(head)
        if b"\r\ntransfer-encoding: chunked" in head.lower():
            _forward_chunks(from_server, client)
        done = 0
        for piece in _pieces(from_server, length):
            data = break_piece(piece, done, fault, client)
            client.sendall(data)
            done += len(piece)
            with self._lock:
                self.sent_bytes += len(data)
            if isinstance(fault, Truncate | Reset | Stall) and done > fault.after_bytes:
                raise _Disconnected


@contextmanager
def fault_proxy(upstream_port: int, choose: ChooseFault = no_fault) -> Iterator[FaultProxy]:
    """A running proxy on a port chosen by the system."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=128)) as listener:
        proxy = FaultProxy(upstream_port, choose, listener.getsockname()[1])
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)


class _Disconnected(Exception):
    """The connection ends, by a fault or because the other side closed it."""


def _read_head(source: IO[bytes]) -> bytes:
    """The head of a request or a response, with its empty line; empty at the end of the connection."""
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


def _forward_chunks(source: IO[bytes], client: socket.socket) -> None:
    """Forward a chunked body unchanged; only short responses are chunked."""
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
            raise _Disconnected
        count_bytes -= len(piece)
        yield piece
