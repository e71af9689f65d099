"""At no log level does a service write credentials: not those it has, and not those that clients send."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.extraction import TEXT
from tests.support.local_http import Call, Reply, http_server
from tests.support.service import PLAIN, start, wait_until

ACCESS_KEY, SECRET, SESSION_TOKEN, CLIENT_KEY = "AKIA0GLEANER", "aws-secret-key", "aws-session-token", "client-key"


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The session tokens of the requests to an S3 server without any object."""
    tokens: list[str] = []

    def answer(call: Call) -> Reply:
        tokens.extend(call.headers.get_all("x-amz-security-token", []))
        return Reply(status=404)

    with http_server(answer) as url:
        variables = {
            "AWS_ENDPOINT_URL_S3": url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": SESSION_TOKEN,
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield tokens


def test_at_debug_no_credential_is_in_the_log(home: Path, signed: list[str]) -> None:
    keys = home / "keys"
    keys.write_text(f"someone {hashlib.sha256(CLIENT_KEY.encode()).hexdigest()}\n")
    settings = {"LOG_LEVEL": "DEBUG", "MODEL_REMOTE": "s3://bucket/models", "API_KEYS_FILE": keys, "MODELS": "tiny"}
    with start(home, MODEL_POLL_SECONDS=0.2, **settings) as service:
        wait_until(lambda: SESSION_TOKEN in signed, 120.0)
        wait_until(lambda: service.phase() != "unreachable")
        for headers in ({"Authorization": f"Bearer {CLIENT_KEY}"}, {"X-API-Key": CLIENT_KEY}):
            httpx.post(service.url + "/extract", json={"text": TEXT}, headers=headers, verify=PLAIN, timeout=60.0)
        service.stop()
        log = service.log.read_text()
    assert '"debug"' in log, "our own lines are there at this level"
    assert [secret for secret in (ACCESS_KEY, SECRET, SESSION_TOKEN, CLIENT_KEY) if secret in log] == []
