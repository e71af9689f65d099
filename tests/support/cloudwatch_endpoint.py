"""An endpoint of CloudWatch for tests: records the calls that arrive, or forwards them, or fails as servers fail."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest

Mood = Literal["well", "hanging", "failing", "refusing"]


class Endpoint:
    """A server on the loopback whose mood, and the one key that it takes, a test changes while it runs."""

    def __init__(self, upstream: str | None = None) -> None:
        self.mood: Mood = "well"
        self.only_key: str | None = None
        self.tries = 0
        self.calls: list[dict[str, Any]] = []
        self.waiting = threading.Event()
        self._upstream = upstream
        self._end = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def data(self, name: str) -> list[dict[str, Any]]:
        """All that arrived of one metric, in order of arrival."""
        return [datum for call in self.calls for datum in call["MetricData"] if datum["MetricName"] == name]

    def close(self) -> None:
        """Stop listening; calls from now on are refused by the kernel."""
        self._end.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        self.tries += 1
        if self.mood == "hanging":
            self.waiting.set()
            self._end.wait()
        if self.only_key is not None and f"Credential={self.only_key}/" not in headers["Authorization"]:
            return 403, json.dumps({"__type": "ExpiredTokenException", "message": "no"}).encode()
        if self.mood != "well":
            code = "InternalServiceFault" if self.mood == "failing" else "InvalidParameterValueException"
            return (500 if self.mood == "failing" else 400), json.dumps({"__type": code, "message": "no"}).encode()
        self.calls.append(_decode(headers, body))
        if self._upstream is None:
            return 200, b"{}"
        answer = httpx.post(self._upstream + path, headers=headers, content=body, timeout=60.0)
        return answer.status_code, answer.content

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, content = endpoint.answer(self.path, dict(self.headers), body)
                with suppress(ConnectionError):  # Whoever asked may be gone by now.
                    self.reply(status, content)

            def reply(self, status: int, content: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.0")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@contextmanager
def endpoint(monkeypatch: pytest.MonkeyPatch, upstream: str | None = None) -> Iterator[Endpoint]:
    """An endpoint that boto3 finds by AWS's own variables, here and in child processes."""
    listening = Endpoint(upstream)
    use(monkeypatch, listening.url)
    try:
        yield listening
    finally:
        listening.close()


def use(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Make boto3 use this endpoint, with made-up credentials."""
    names = {
        "AWS_ENDPOINT_URL_CLOUDWATCH": url,
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in names.items():
        monkeypatch.setenv(name, value)


class SharedCredentials:
    """A credentials file that AWS's clients read, in place of variables; a rotation writes it anew."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file = file
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def write(self, key: str) -> None:
        self._file.write_text(f"[default]\naws_access_key_id={key}\naws_secret_access_key=secret\n")


def _decode(headers: dict[str, str], body: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body)
    return decoded
