"""`python -m loadtest.bench.host.span_sink`: prints its port, and keeps nothing of what OTLP exporters post."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def span_sink() -> Iterator[str]:
    """The URL of one that runs in a process of its own while the context is open."""
    with subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def main() -> None:
    """Serve until terminated."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Sink) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
