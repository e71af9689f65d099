"""One S3 server for all tests of this folder, and a bucket of its own for each test, behind a proxy that counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from loadtest.s3.fault_proxy import FaultProxy, fault_proxy
from loadtest.s3.server import S3Server, s3_server
from model_store.local.store import Store
from model_store.remote.retry import Patience
from model_store.remote.s3 import S3Remote

EAGER = Patience(limit_seconds=120.0, first_wait_seconds=0.01, longest_wait_seconds=0.1)
"""Soon again, and for long: the machine may be busy with other things."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket, the proxy in front of it, and a client that goes around the proxy."""

    name: str
    proxy: FaultProxy
    server: S3Server
    direct: boto3.client

    @property
    def url(self) -> str:
        return f"s3://{self.name}/models"

    def remote(self, patience: Patience = EAGER, silence_seconds: float = 60.0) -> S3Remote:
        """The store in this bucket, seen through the proxy."""
        return S3Remote(self.name, "models", "path", patience, silence_seconds=silence_seconds)


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


@contextmanager
def open_bucket(server: S3Server, patch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A new bucket behind a new proxy, to which AWS's variables point."""
    name = f"bucket-{uuid4().hex[:8]}"
    with fault_proxy(server.port) as proxy:
        for variable, value in server.environment(proxy.endpoint).items():
            patch.setenv(variable, value)
        direct = boto3.Session().client("s3", endpoint_url=server.endpoint)
        direct.create_bucket(Bucket=name)
        yield Bucket(name, proxy, server, direct)


@pytest.fixture
def no_aws_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever this machine's user has configured for AWS does not count."""
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
