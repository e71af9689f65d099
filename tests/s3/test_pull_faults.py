"""Pulls through a proxy that injects faults: they arrive intact or fail with an error, and no blob is unverified."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import (
    ErrorResponse,
    Fault,
    Flip,
    ProxiedRequest,
    Reset,
    Stall,
    Truncate,
    fault_proxy,
    no_fault,
)
from model_store.errors import CorruptObject, RemoteRefused, RemoteUnavailable, StoreError
from model_store.local.store import Revision, Store
from model_store.local.verify import verify_store
from model_store.remote.retry import RetryPolicy
from model_store.transfer.download import DownloadOptions
from model_store.transfer.publish import publish
from model_store.transfer.pull import pull
from model_store.transfer.push import push
from tests.support.model_folders import write_model
from tests.support.s3_buckets import PERSISTENT, Bucket, on_blobs
from tests.support.stores import assert_intact

SHARDS = 16
SHARD_BYTES = 150_000
RANGE_BYTES = 40_000
OPTIONS = DownloadOptions(range_bytes=RANGE_BYTES, retry=PERSISTENT)
BRIEF = RetryPolicy(limit_seconds=1.0, first_wait_seconds=0.01, longest_wait_seconds=0.1)


def make_shards(seed: int) -> dict[str, bytes]:
    noise = random.Random(seed)
    return {f"model-{number:02}.safetensors": noise.randbytes(SHARD_BYTES) for number in range(SHARDS)}


@pytest.fixture(scope="module")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The publisher's local store."""
    return Store(tmp_path_factory.mktemp("publisher") / "store")


@pytest.fixture(scope="module")
def published(module_bucket: Bucket, publisher: Store) -> Revision:
    """A model of 16 shards in a bucket."""
    folder = write_model(publisher.root.parent / "model", make_shards(1))
    revision = publish(folder, "documents", publisher, tag=None).revision
    push(revision, publisher, module_bucket.remote(), tag="stable")
    return revision


@pytest.fixture
def bucket(module_bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """The bucket behind a proxy of the test's own."""
    with fault_proxy(module_bucket.server.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.endpoint)
        yield replace(module_bucket, proxy=proxy)


@pytest.mark.parametrize(
    "fault",
    [
        Truncate(0),
        Truncate(10_000),
        Reset(10_000),
        Stall(10_000, 3.0),
        ErrorResponse(500),
        ErrorResponse(503),
        ErrorResponse(416),
    ],
    ids=lambda fault: str(fault),
)
def test_a_model_arrives_intact_despite_occasional_faults(
    bucket: Bucket, store: Store, published: Revision, fault: Fault
) -> None:
    bucket.proxy.choose = on_blobs(7, fault)
    pulled = pull("documents", store, bucket.remote(read_timeout_seconds=1.0), options=OPTIONS)
    assert pulled.revision.revision == published.revision
    assert verify_store(store).intact
    assert bucket.proxy.faults >= SHARDS * 4 // 7
    assert list(store.layout.partial.iterdir()) == []


def test_a_flipped_byte_is_quarantined_and_the_blob_fetched_again(
    bucket: Bucket, store: Store, published: Revision
) -> None:
    shard = max(published.manifest.files, key=lambda file: file.size_bytes)
    once = on_blobs(1, Flip(20_000))
    left = [1]

    def choose(request: ProxiedRequest) -> Fault | None:
        if request.method == "GET" and shard.sha256 in request.path and left:
            left.pop()
            return once(request)
        return None

    bucket.proxy.choose = choose
    pull("documents", store, bucket.remote(), options=OPTIONS)
    assert bucket.proxy.faults == 1
    assert verify_store(store).intact
    (quarantined,) = store.layout.quarantine.iterdir()
    assert hashlib.sha256(quarantined.read_bytes()).hexdigest() != quarantined.name
    assert published.manifest.size_bytes < bucket.proxy.sent_bytes < published.manifest.size_bytes + 2 * SHARD_BYTES


@pytest.mark.parametrize(
    ("fault", "error", "named"),
    [
        (Flip(1), CorruptObject, "blobs/sha256/"),
        (ErrorResponse(403), RemoteRefused, "AccessDenied"),
        (ErrorResponse(503), RemoteUnavailable, "It was tried"),
        (Truncate(0), RemoteUnavailable, "It was tried"),
        (Reset(0), RemoteUnavailable, "It was tried"),
        (ErrorResponse(416), RemoteUnavailable, "InvalidRange"),
    ],
    ids=lambda value: str(value),
)
def test_a_permanent_fault_is_an_error_and_the_next_pull_succeeds(
    bucket: Bucket, store: Store, published: Revision, fault: Fault, error: type[StoreError], named: str
) -> None:
    bucket.proxy.choose = on_blobs(1, fault)
    with pytest.raises(error, match=named):
        pull("documents", store, bucket.remote(BRIEF), options=DownloadOptions(range_bytes=RANGE_BYTES, retry=BRIEF))
    assert_intact(store)
    assert store.revisions() == ()
    bucket.proxy.choose = no_fault
    assert pull("documents", store, bucket.remote(), options=OPTIONS).revision.revision == published.revision


def test_a_blob_that_is_uploaded_again_meanwhile_arrives(bucket: Bucket, store: Store, published: Revision) -> None:
    """The same bytes uploaded in parts have another ETag."""
    file = max(published.manifest.files, key=lambda file: file.size_bytes)
    key = f"models/blobs/sha256/{file.sha256}"
    again = threading.Event()

    def choose(request: ProxiedRequest) -> Fault | None:
        if request.method == "GET" and file.sha256 in request.path and not again.is_set():
            again.set()
            data = bucket.direct.get_object(Bucket=bucket.name, Key=key)["Body"].read()
            upload = bucket.direct.create_multipart_upload(Bucket=bucket.name, Key=key)["UploadId"]
            where = {"Bucket": bucket.name, "Key": key, "UploadId": upload}
            part = bucket.direct.upload_part(**where, PartNumber=1, Body=data)
            parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
            bucket.direct.complete_multipart_upload(**where, MultipartUpload=parts)
        return None

    bucket.proxy.choose = choose
    pull("documents", store, bucket.remote(), options=OPTIONS)
    assert again.is_set()
    assert verify_store(store).intact


def test_an_upload_arrives_intact_despite_occasional_faults(
    bucket: Bucket, store: Store, publisher: Store, tmp_path: Path
) -> None:
    lock, seen = threading.Lock(), [0]

    def choose(request: ProxiedRequest) -> Fault | None:
        with lock:
            seen[0] += 1
            return ErrorResponse(503) if seen[0] % 3 == 0 else None

    bucket.proxy.choose = choose
    revision = publish(write_model(tmp_path / "third", make_shards(3)), "invoices", publisher, tag=None).revision
    push(revision, publisher, bucket.remote(), tag="stable")
    assert bucket.proxy.faults > SHARDS // 3
    bucket.proxy.choose = no_fault
    assert pull("invoices", store, bucket.remote(), options=OPTIONS).revision.revision == revision.revision
