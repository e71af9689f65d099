"""An endpoint of CloudWatch for tests: records the calls that arrive, or forwards them, or fails as servers fail."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest

from tests.support.local_http import Call, Reply, http_server, json_reply

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
        self._stack = ExitStack()
        self.url = self._stack.enter_context(http_server(self.answer))

    def data(self, name: str) -> list[dict[str, Any]]:
        """All that arrived of one metric, in order of arrival."""
        return [datum for call in self.calls for datum in call["MetricData"] if datum["MetricName"] == name]

    def close(self) -> None:
        """Stop listening; calls from now on are refused by the kernel."""
        self._end.set()
        self._stack.close()

    def answer(self, call: Call) -> Reply:
        headers = dict(call.headers)
        self.tries += 1
        if self.mood == "hanging":
            self.waiting.set()
            self._end.wait()
        if self.only_key is not None and f"Credential={self.only_key}/" not in headers["Authorization"]:
            return json_reply({"__type": "ExpiredTokenException", "message": "no"}, 403)
        if self.mood != "well":
            code = "InternalServiceFault" if self.mood == "failing" else "InvalidParameterValueException"
            return json_reply({"__type": code, "message": "no"}, 500 if self.mood == "failing" else 400)
        self.calls.append(_decode(headers, call.body))
        if self._upstream is None:
            return json_reply({})
        answer = httpx.post(self._upstream + call.path, headers=headers, content=call.body, timeout=60.0)
        return Reply(answer.content, answer.status_code)


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
