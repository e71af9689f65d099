"""At no log level does a service write credentials: not those it has, and not those that clients send."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.support.extraction import TEXT
from tests.support.service import PLAIN, start, wait_until

ACCESS_KEY, SECRET, SESSION_TOKEN, CLIENT_KEY = "AKIA0GLEANER", "aws-secret-key", "aws-session-token", "client-key"


class _NothingThere(BaseHTTPRequestHandler):
    """An S3 server without any object; it counts requests with a session token."""

    protocol_version = "HTTP/1.1"
    signed = 0

    def do_GET(self) -> None:
        type(self).signed += self.headers.get("x-amz-security-token") == SESSION_TOKEN
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_NothingThere]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _NothingThere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    variables = {
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_SESSION_TOKEN": SESSION_TOKEN,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield _NothingThere
    server.shutdown()
    server.server_close()


def test_at_debug_no_credential_is_in_the_log(home: Path, s3: type[_NothingThere]) -> None:
    keys = home / "keys"
    keys.write_text(f"someone {hashlib.sha256(CLIENT_KEY.encode()).hexdigest()}\n")
    settings = {"LOG_LEVEL": "DEBUG", "MODEL_REMOTE": "s3://bucket/models", "API_KEYS_FILE": keys, "MODELS": "tiny"}
    with start(home, MODEL_POLL_SECONDS=0.2, **settings) as service:
        wait_until(lambda: s3.signed > 0, 120.0)
        wait_until(lambda: service.phase() != "unreachable")
        for headers in ({"Authorization": f"Bearer {CLIENT_KEY}"}, {"X-API-Key": CLIENT_KEY}):
            httpx.post(service.url + "/extract", json={"text": TEXT}, headers=headers, verify=PLAIN, timeout=60.0)
        service.stop()
        log = service.log.read_text()
    assert '"debug"' in log, "our own lines are there at this level"
    assert [secret for secret in (ACCESS_KEY, SECRET, SESSION_TOKEN, CLIENT_KEY) if secret in log] == []
