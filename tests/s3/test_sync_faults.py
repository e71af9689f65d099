"""A sync through a proxy that breaks things: it arrives whole, or says what is wrong; nothing unverified has a name."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import Answer, Fault, Flip, Request, Reset, Stall, Truncate, no_fault
from model_store.errors import CorruptObject, RemoteRefused, RemoteUnavailable, StoreError
from model_store.local.store import Revision, Store
from model_store.local.verify import verify_store
from model_store.remote.retry import Patience
from model_store.transfer.download import Pace
from model_store.transfer.publish import publish
from model_store.transfer.pull import sync
from model_store.transfer.push import push
from tests.s3.conftest import EAGER, Bucket
from tests.support.model_folders import write_model

SHARDS = 16
SHARD_BYTES = 150_000
RANGE_BYTES = 40_000
PACE = Pace(range_bytes=RANGE_BYTES, patience=EAGER)
SOON = Patience(limit_seconds=1.0, first_wait_seconds=0.01, longest_wait_seconds=0.1)


def make_shards(seed: int) -> dict[str, bytes]:
    noise = random.Random(seed)
    return {f"model-{number:02}.safetensors": noise.randbytes(SHARD_BYTES) for number in range(SHARDS)}


@pytest.fixture(scope="module")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Where the model is published before it goes into the bucket."""
    return Store(tmp_path_factory.mktemp("publisher") / "store")


@pytest.fixture(scope="module")
def uploaded(module_bucket: Bucket, publisher: Store) -> Revision:
    """A model of 16 shards in a bucket."""
    folder = write_model(publisher.root.parent / "model", make_shards(1))
    revision = publish(folder, "documents", publisher, tag=None).revision
    push(revision, publisher, module_bucket.remote(), tag="stable")
    return revision


@pytest.fixture
def bucket(module_bucket: Bucket) -> Bucket:
    """The bucket, behind a proxy that breaks nothing yet and has forgotten what it did."""
    module_bucket.proxy.choose = no_fault
    module_bucket.proxy.reset_counts()
    return module_bucket


@pytest.fixture
def published(uploaded: Revision, bucket: Bucket) -> Revision:
    bucket.proxy.reset_counts()
    return uploaded


def on_blobs(every: int, fault: Fault) -> Callable[[Request], Fault | None]:
    """The fault for every so many-th request for a blob's bytes."""
    lock, seen = threading.Lock(), [0]

    def choose(request: Request) -> Fault | None:
        if request.method != "GET" or "/blobs/" not in request.path:
            return None
        with lock:
            seen[0] += 1
            return fault if seen[0] % every == 0 else None

    return choose


def assert_nothing_unverified(store: Store) -> None:
    for path in store.layout.blobs.iterdir() if store.layout.blobs.exists() else ():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    for revision in store.revisions():
        store.resolve(f"documents@{revision}")


@pytest.mark.parametrize(
    "fault",
    [Truncate(0), Truncate(10_000), Reset(10_000), Stall(10_000, 3.0), Answer(500), Answer(503), Answer(416)],
    ids=lambda fault: str(fault),
)
def test_a_model_arrives_whole_through_a_server_that_fails_now_and_then(
    bucket: Bucket, store: Store, published: Revision, fault: Fault
) -> None:
    bucket.proxy.choose = on_blobs(7, fault)
    synced = sync("documents", store, bucket.remote(silence_seconds=1.0), pace=PACE)
    assert synced.revision.revision == published.revision
    assert verify_store(store).sound
    assert bucket.proxy.faults >= SHARDS * 4 // 7
    assert list(store.layout.partial.iterdir()) == []


def test_a_flipped_byte_is_quarantined_and_the_file_fetched_once_more(
    bucket: Bucket, store: Store, published: Revision
) -> None:
    shard = max(published.manifest.files, key=lambda file: file.size_bytes)
    once = on_blobs(1, Flip(20_000))
    left = [1]

    def choose(request: Request) -> Fault | None:
        if request.method == "GET" and shard.sha256 in request.path and left:
            left.pop()
            return once(request)
        return None

    bucket.proxy.choose = choose
    sync("documents", store, bucket.remote(), pace=PACE)
    assert bucket.proxy.faults == 1
    assert verify_store(store).sound
    (quarantined,) = store.layout.quarantine.iterdir()
    assert hashlib.sha256(quarantined.read_bytes()).hexdigest() != quarantined.name
    assert published.manifest.size_bytes < bucket.proxy.sent_bytes < published.manifest.size_bytes + 2 * SHARD_BYTES


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Flip(1), CorruptObject, "its SHA-256 should be"),
        (Answer(403), RemoteRefused, "refuses access"),
        (Answer(503), RemoteUnavailable, "It was tried"),
        (Truncate(0), RemoteUnavailable, "It was tried"),
        (Reset(0), RemoteUnavailable, "It was tried"),
        (Answer(416), RemoteUnavailable, "not what it was a moment ago"),
    ],
    ids=lambda value: str(value),
)
def test_a_fault_that_stays_ends_in_a_sentence_and_what_arrived_is_kept(
    bucket: Bucket, store: Store, published: Revision, fault: Fault, error: type[StoreError], words: str
) -> None:
    bucket.proxy.choose = on_blobs(1, fault)
    with pytest.raises(error, match=words):
        sync("documents", store, bucket.remote(SOON), pace=Pace(range_bytes=RANGE_BYTES, patience=SOON))
    assert_nothing_unverified(store)
    assert store.revisions() == ()
    bucket.proxy.choose = no_fault
    assert sync("documents", store, bucket.remote(), pace=PACE).revision.revision == published.revision


def test_a_revision_that_shares_all_but_one_shard_costs_one_shard_on_the_wire(
    bucket: Bucket, store: Store, published: Revision, publisher: Store, tmp_path: Path
) -> None:
    sync("documents", store, bucket.remote(), pace=PACE)
    assert published.manifest.size_bytes <= bucket.proxy.sent_bytes < published.manifest.size_bytes + 20_000
    changed = {**make_shards(1), "model-05.safetensors": make_shards(2)["model-05.safetensors"]}
    second = publish(write_model(tmp_path / "second", changed), "documents", publisher, tag=None).revision
    shard_bytes = next(file.size_bytes for file in second.manifest.files if file.path == "model-05.safetensors")
    bucket.proxy.reset_counts()
    push(second, publisher, bucket.remote(), tag="candidate")
    assert shard_bytes <= bucket.proxy.received_bytes < shard_bytes + 10_000
    bucket.proxy.reset_counts()
    sync("documents@candidate", store, bucket.remote(), pace=PACE)
    assert shard_bytes <= bucket.proxy.sent_bytes < shard_bytes + 20_000
    assert store.resolve("documents@candidate").revision == second.revision


def test_a_blob_that_was_uploaded_again_meanwhile_is_no_failure(
    bucket: Bucket, store: Store, published: Revision
) -> None:
    """The same bytes uploaded in parts have another ETag."""
    file = max(published.manifest.files, key=lambda file: file.size_bytes)
    key = f"models/blobs/sha256/{file.sha256}"
    again = threading.Event()

    def choose(request: Request) -> Fault | None:
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
    sync("documents", store, bucket.remote(), pace=PACE)
    assert again.is_set()
    assert verify_store(store).sound


def test_an_upload_through_a_server_that_fails_now_and_then_arrives_whole(
    bucket: Bucket, store: Store, publisher: Store, tmp_path: Path
) -> None:
    lock, seen = threading.Lock(), [0]

    def choose(request: Request) -> Fault | None:
        with lock:
            seen[0] += 1
            return Answer(503) if seen[0] % 3 == 0 else None

    bucket.proxy.choose = choose
    revision = publish(write_model(tmp_path / "third", make_shards(3)), "invoices", publisher, tag=None).revision
    push(revision, publisher, bucket.remote(), tag="stable")
    assert bucket.proxy.faults > SHARDS // 3
    bucket.proxy.choose = no_fault
    assert sync("invoices", store, bucket.remote(), pace=PACE).revision.revision == revision.revision
