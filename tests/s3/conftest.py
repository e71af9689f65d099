"""Fixtures: one S3 server for all tests of this folder, and buckets behind proxies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtest.s3.server import S3Server, s3_server
from model_store.local.store import Store
from tests.support.s3_buckets import Bucket, open_bucket


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="module")
def module_bucket(server: S3Server) -> Iterator[Bucket]:
    """A bucket that the tests of a file share: they may read it, each with its own proxy settings."""
    with pytest.MonkeyPatch.context() as patch, open_bucket(server, patch) as bucket:
        yield bucket


@pytest.fixture
def bucket(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    with open_bucket(server, monkeypatch) as bucket:
        yield bucket


@pytest.fixture
def no_aws_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hides the AWS configuration of this machine's user."""
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
