"""Buckets of a real S3 server, each behind a proxy that counts and injects faults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import boto3
import pytest

from loadtest.s3.fault_proxy import Fault, FaultProxy, ProxiedRequest, fault_proxy
from loadtest.s3.server import S3Server
from model_store.remote.retry import RetryPolicy
from model_store.remote.s3 import S3Remote

PERSISTENT = RetryPolicy(limit_seconds=120.0, first_wait_seconds=0.01, longest_wait_seconds=0.1)
"""Short waits and a long limit: the machine may be busy."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket, the proxy in front of it, and a client that bypasses the proxy."""

    name: str
    proxy: FaultProxy
    server: S3Server
    direct: boto3.client

    @property
    def url(self) -> str:
        return f"s3://{self.name}/models"

    def remote(self, retry: RetryPolicy = PERSISTENT, read_timeout_seconds: float = 60.0) -> S3Remote:
        """The store in this bucket, through the proxy, on a connection of its own."""
        return S3Remote(self.name, "models", "path", retry, read_timeout_seconds=read_timeout_seconds)


@contextmanager
def open_bucket(server: S3Server, patch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A new bucket behind a new proxy, which AWS's environment variables name."""
    name = f"bucket-{uuid4().hex[:8]}"
    with fault_proxy(server.port) as proxy:
        for variable, value in server.environment(proxy.endpoint).items():
            patch.setenv(variable, value)
        direct = boto3.Session().client("s3", endpoint_url=server.endpoint)
        direct.create_bucket(Bucket=name)
        yield Bucket(name, proxy, server, direct)


def first(number: int, fault: Fault) -> Callable[[ProxiedRequest], Fault | None]:
    """The fault for the first `number` requests."""
    left = [number]

    def choose(_request: ProxiedRequest) -> Fault | None:
        left[0] -= 1
        return fault if left[0] >= 0 else None

    return choose


def on_blobs(every: int, fault: Fault) -> Callable[[ProxiedRequest], Fault | None]:
    """The fault for each `every`-th request that reads a blob."""
    lock, seen = threading.Lock(), [0]

    def choose(request: ProxiedRequest) -> Fault | None:
        if request.method != "GET" or "/blobs/" not in request.path:
            return None
        with lock:
            seen[0] += 1
            return fault if seen[0] % every == 0 else None

    return choose
