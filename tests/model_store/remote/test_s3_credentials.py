"""Credentials that are renewed in their file while a remote store is in use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from model_store.errors import RemoteRefused, RemoteUnavailable
from model_store.remote.retry import RetryPolicy
from model_store.remote.s3 import S3Remote
from tests.support.cloudwatch_endpoint import SharedCredentials
from tests.support.local_http import Call, Reply, http_server


class Bucket:
    """One object, `content`, for the key that it takes; `refusal` for others."""

    key = "old"
    refusal = (403, "InvalidAccessKeyId")
    content = b"one"

    def answer(self, call: Call) -> Reply:
        if f"Credential={self.key}/" in call.headers.get("Authorization", ""):
            return Reply(self.content, headers={"ETag": '"e"'})
        status, code = self.refusal
        return Reply(f"<Error><Code>{code}</Code></Error>".encode(), status)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    made = Bucket()
    with http_server(made.answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield made


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SharedCredentials:
    found = SharedCredentials(tmp_path / "credentials", monkeypatch)
    found.write("old")
    return found


@pytest.fixture
def remote() -> S3Remote:
    return S3Remote("bucket", "models", "path", RetryPolicy(limit_seconds=0.1, first_wait_seconds=0.01))


@pytest.mark.parametrize(
    "refusal",
    [(400, "ExpiredToken"), (403, "InvalidAccessKeyId"), (403, "AccessDenied"), (401, "Unauthorized")],
    ids=str,
)
@pytest.mark.parametrize("way", ["read", "stat", "range"])
def test_renewed_credentials_are_read_after_a_refusal(
    bucket: Bucket, credentials: SharedCredentials, remote: S3Remote, refusal: tuple[int, str], way: str
) -> None:
    def ask() -> object:
        if way == "range":
            with remote.open_range("key", 0, 3, None) as found:
                return found.etag
        return remote.read("key") if way == "read" else remote.stat("key")

    assert ask()
    bucket.key, bucket.refusal = "new", refusal
    for _ in range(2):
        with pytest.raises(RemoteRefused):
            ask()
    credentials.write("new")
    assert ask()
    bucket.key = "newer"
    credentials.write("newer")
    with pytest.raises(RemoteRefused):
        ask()
    assert ask()


def test_missing_credentials_are_looked_for_again(
    bucket: Bucket, credentials: SharedCredentials, remote: S3Remote, tmp_path: Path
) -> None:
    (tmp_path / "credentials").unlink()
    with pytest.raises(RemoteRefused, match="no AWS credentials"):
        remote.read("key")
    credentials.write("old")
    assert remote.read("key") == b"one"


def test_a_store_that_is_not_ready_keeps_its_client(
    bucket: Bucket, credentials: SharedCredentials, remote: S3Remote
) -> None:
    assert remote.read("key") == b"one"
    bucket.key, bucket.refusal = "other", (503, "SlowDown")
    credentials.write("new")
    with pytest.raises(RemoteUnavailable):
        remote.read("key")
    bucket.key = "old"
    assert remote.read("key") == b"one"
