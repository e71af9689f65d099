"""The faults that a proxy can put into an S3 server's responses, for requests that a test or benchmark chooses.

    Truncate         the body ends early and the connection is closed
    Reset            the body ends early with a TCP reset
    Stall            the body stops for a while, and then the connection is closed
    Flip             one byte of the body is changed
    ErrorResponse    an error instead of the server's response

Bodies are only broken if their length is known.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

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
    """What is sent of a piece that begins at byte `start` of the body; applies Stall and Reset to the connection."""
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
