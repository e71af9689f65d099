"""What a service writes: words on a terminal, and at no level of its log credentials."""

from __future__ import annotations

import hashlib
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from loadtest.service_process import KeptPort
from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.extraction import TEXT
from tests.support.local_http import Call, Reply, http_server
from tests.support.service import PLAIN, START_SECONDS, environment, start, wait_until
from tests.support.tiny_models import make_model


def shown_until(terminal: int, words: str, seconds: float) -> str:
    """What a terminal shows until these words stand there."""
    end, shown = time.monotonic() + seconds, ""
    while words not in shown and (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            shown += os.read(terminal, 65_536).decode()
    return shown


def test_a_person_sees_lines_of_text_and_the_address(tmp_path: Path) -> None:
    publish(make_model(tmp_path / "tiny"), "tiny", Store(tmp_path / "store"))
    port = KeptPort()
    terminal, screen = pty.openpty()
    command = [sys.executable, "-m", "service.cli", "serve", "--host", "127.0.0.1", "--port", str(port.number)]
    with subprocess.Popen(
        command, env=environment(tmp_path, MODELS="tiny", DTYPE="float32"), stderr=screen, start_new_session=True
    ) as process:
        os.close(screen)
        try:
            shown = shown_until(terminal, "Ctrl-C stops it.", START_SECONDS)
            assert f"http://127.0.0.1:{port.number}/docs" in shown
            assert not [line for line in shown.splitlines() if line.startswith("{")]
            process.send_signal(2)
            assert "drained" in shown_until(terminal, "drained", 120.0)
            assert process.wait(120.0) == 0
        finally:
            process.kill()
    os.close(terminal)


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
            httpx.post(service.url + "/extract", json={"text": TEXT}, headers=headers, verify=PLAIN, timeout=240.0)
        service.stop()
        log = service.log.read_text()
    assert '"debug"' in log, "our own lines are there at this level"
    assert [secret for secret in (ACCESS_KEY, SECRET, SESSION_TOKEN, CLIENT_KEY) if secret in log] == []
