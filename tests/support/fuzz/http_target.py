"""The fuzz target of the HTTP port: raw bytes on a connection to a running service."""

from __future__ import annotations

import json
import re
import socket
from random import Random

from tests.support.fuzz.mutation import mutate

WAIT_SECONDS = 0.5
MOST_READ_BYTES = 1 << 16
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
TYPED = b"application/problem+json"
BODY = json.dumps({"text": "Invoice INV-20931 of 3 May"}).encode()
POST = b"POST /extract?min_score=0.5 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Request-Id: abc\r\n"
SAMPLES = (
    POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n",
    POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY,
    b"GET /readyz HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\nConnection: close\r\n\r\n",
    b"HEAD /metrics HTTP/1.0\r\nHost: a\r\n\r\n",
)


class UntypedAnswer(AssertionError):
    """An error answer without a problem document, or a failure of the service itself."""


class HttpTarget:
    """Requests to one service. An answer may be any but an untyped error; no answer means that more is waited for."""

    name = "http"

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address

    def make(self, draw: Random) -> bytes:
        """A mutated request."""
        return mutate(draw.choice(SAMPLES), SAMPLES, draw, most=2)

    def attack(self, data: bytes) -> str:
        """Send it: the first status of the answer, or what came instead."""
        answer = b""
        with socket.create_connection(self._address, timeout=30.0) as connection:
            connection.settimeout(WAIT_SECONDS)
            try:
                connection.sendall(data)
                while len(answer) < MOST_READ_BYTES and (piece := connection.recv(MOST_READ_BYTES)):
                    answer += piece
                    if b"\r\n\r\n" in answer:
                        break
            except TimeoutError:
                return "waits"
            except OSError:
                pass
        return judge(answer)


def judge(answer: bytes) -> str:
    """The status of an answer, or "closed" without one.

    Raises:
        UntypedAnswer: an error without a problem document, a failure of the service, or no HTTP.
    """
    status = STATUS.match(answer)
    if status is None:
        return "closed" if not answer else _fail(answer)
    code = int(status[1])
    if code == 500 or (code >= 400 and TYPED not in answer.lower()):
        _fail(answer)
    return str(code)


def _fail(answer: bytes) -> str:
    raise UntypedAnswer(repr(answer[:300]))
