"""The null server: `python -m tests.support.null_server` answers every POST at once with one small result.

It prints its port. With two numbers it stalls once: after so many seconds from the first request on, and for so long.
Of a request it parses no more than the length.
"""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import uvloop

ENTITY = {"label": "INVOICE_ID", "text": "INV-20931", "start": 8, "end": 17, "score": 0.979, "value": "INV-20931"}
DOCUMENT = {"id": "0", "characters": 700, "tokens": 160, "windows": 1, "error": None, "entities": [ENTITY] * 8}
TIMING = {f"{stage}_ms": 1.5 for stage in ("parse", "tokenize", "queue", "compute", "decode", "total")}
BODY = json.dumps(
    {"model": {"name": "null", "revision": "sha256:0"}, "documents": [DOCUMENT], "timing": TIMING}
).encode()
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)
LENGTH = b"content-length: "


class ServerStall:
    """One stall of the whole server, which begins `after_seconds` after the first request."""

    def __init__(self, after_seconds: float, seconds: float) -> None:
        self._after_seconds, self._seconds = after_seconds, seconds
        self._begin = math.inf

    def wait(self) -> None:
        """Block the server until the end of the stall, if it has begun and not ended."""
        now = time.monotonic()
        if math.isinf(self._begin):
            self._begin = now + self._after_seconds
        if self._begin <= now < self._begin + self._seconds:
            time.sleep(self._begin + self._seconds - now)


class NullConnection(asyncio.Protocol):
    """One connection."""

    def __init__(self, stall: ServerStall) -> None:
        self._stall = stall

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._seen = b""

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while (end := self._seen.find(b"\r\n\r\n")) >= 0:
            head = self._seen[:end].lower() + b"\r\n"
            at = head.find(LENGTH)
            whole = end + 4 + (int(head[at + len(LENGTH) : head.index(b"\r\n", at)]) if at >= 0 else 0)
            if len(self._seen) < whole:
                return
            self._seen = self._seen[whole:]
            self._stall.wait()
            self._transport.write(REPLY)


@contextmanager
def null_server(*stall: float) -> Iterator[str]:
    """The URL of a null server while the context is open; `stall`: seconds until it stalls, and for how long."""
    command = [sys.executable, "-m", __name__, *map(str, stall)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


async def serve() -> None:
    """Serve on a free port until killed."""
    stall = ServerStall(*map(float, sys.argv[1:3])) if len(sys.argv) > 2 else ServerStall(0.0, 0.0)
    server = await asyncio.get_running_loop().create_server(lambda: NullConnection(stall), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
