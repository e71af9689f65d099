"""HTTP servers of tests on the loopback: a function answers every request."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A request."""

    method: str
    path: str
    headers: Message
    body: bytes


class Reply(NamedTuple):
    """An answer."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}


def json_reply(value: object, status: int = 200, **headers: str) -> Reply:
    return Reply(json.dumps(value).encode(), status, {"Content-Type": "application/json", **headers})


@contextmanager
def http_server(answer: Callable[[Call], Reply], host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """The URL of a server; each connection has a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # Else the body waits for the acknowledgement of the head, for 40 ms.

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = answer(Call(self.command, self.path, self.headers, body))
            with suppress(ConnectionError):  # Whoever asked may be gone by now.
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"" if self.command == "HEAD" else reply.body)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True
        request_queue_size = 1_024

    with Server((host, port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
