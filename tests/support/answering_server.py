"""A server that answers POST /extract one request after another, each in a known time and with a known status.

Started as `python answering_server.py PORT SECONDS FILE` it leaves a child process behind, whose id is in FILE.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Pace:
    """The time and status of its answers, and the texts of each request that came."""

    seconds: float = 0.0
    status: int = 200
    came: list[list[str]] = field(default_factory=list)
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def answering(pace: Pace, port: int = 0) -> Iterator[str]:
    """Its URL, while it runs."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(pace))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(pace: Pace) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [body["text"]] if "text" in body else [each["text"] for each in body["documents"]]
            with pace.one_at_a_time:
                pace.came.append(texts)
                time.sleep(pace.seconds)
            answer = json.dumps({"documents": [{"entities": [_entity(text)]} for text in texts]}).encode()
            self.send_response(pace.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Handler


def _entity(text: str) -> dict[str, Any]:
    return {"label": "A", "start": 0, "end": len(text), "score": 0.5}


if __name__ == "__main__":
    child = subprocess.Popen(["sleep", "600"])
    Path(sys.argv[3]).write_text(str(child.pid))
    with answering(Pace(float(sys.argv[2])), int(sys.argv[1])):
        threading.Event().wait()
