"""`gleaner models pull` as a process, with every failure of disk, credentials and bucket: one line, exit code 1."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import ErrorResponse
from model_store.local.store import Revision, Store
from model_store.manifest import File
from model_store.reference import hex_digits
from model_store.remote.base import blob_key, manifest_key
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from tests.support.model_folders import write_model
from tests.support.s3_buckets import Bucket
from tests.support.stores import file_of
from tests.support.wrong_manifests import NO_REVISION, altered, point, put_manifest

ROOT = Path(__file__).parents[2]
WEIGHTS = {"model.safetensors": b"w" * 400_000}


@pytest.fixture
def revision(bucket: Bucket, tmp_path: Path) -> Revision:
    """The model `cv` in the bucket."""
    publisher = Store(tmp_path / "publisher")
    revision = publish(write_model(tmp_path / "model", WEIGHTS), "cv", publisher, tag=None).revision
    push(revision, publisher, bucket.remote(), tag="stable")
    return revision


def pull(store: Path, remote: str, prepare: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    arguments = ["models", "pull", "cv", "--store", str(store), "--remote", remote]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GLEANER_")}
    command = [sys.executable, "-m", "service.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, preexec_fn=prepare)


def require_one_line(ended: subprocess.CompletedProcess[str], named: str) -> None:
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.startswith("gleaner: ")
    assert ended.stderr.count("\n") == 1
    assert named in ended.stderr
    assert ended.stdout == ""


def addressed(bucket: Bucket) -> str:
    return f"{bucket.url}?addressing=path"


@pytest.mark.usefixtures("revision")
def test_a_full_disk(bucket: Bucket, tmp_path: Path) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    store = Store(tmp_path / "store")
    require_one_line(pull(store.root, addressed(bucket), fill), "is full")
    assert store.revisions() == ()
    assert pull(store.root, addressed(bucket)).returncode == 0


@pytest.mark.usefixtures("revision")
def test_a_store_whose_place_is_taken_by_a_file(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    require_one_line(pull(tmp_path / "store", addressed(bucket)), "cannot be written to")


def test_a_bucket_that_is_gone(bucket: Bucket, tmp_path: Path) -> None:
    bucket.direct.delete_bucket(Bucket=bucket.name)
    require_one_line(pull(tmp_path / "store", addressed(bucket)), bucket.url)


@pytest.mark.usefixtures("revision")
@pytest.mark.parametrize("state", ["expired", "wrong", "unknown"])
def test_credentials_that_are_not_accepted(
    bucket: Bucket, tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if state == "expired":
        bucket.proxy.choose = lambda _request: ErrorResponse(400, "ExpiredToken")
    else:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY" if state == "wrong" else "AWS_ACCESS_KEY_ID", "nobody:nothing")
    code = "ExpiredToken" if state == "expired" else "SignatureDoesNotMatch"
    require_one_line(pull(tmp_path / "store", addressed(bucket)), code)


def test_no_credentials_at_all(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    require_one_line(pull(tmp_path / "store", addressed(bucket)), bucket.url)


def tag_to_nothing(bucket: Bucket, _revision: Revision) -> None:
    point(bucket.remote(), "cv", NO_REVISION)


def lost_manifest(bucket: Bucket, revision: Revision) -> None:
    bucket.remote().delete(manifest_key(hex_digits(revision.revision)))


def lost_shard(bucket: Bucket, revision: Revision) -> None:
    bucket.remote().delete(blob_key(file_of(revision).sha256))


def other_labels(bucket: Bucket, revision: Revision) -> None:
    put_manifest(bucket.remote(), altered(revision.manifest, labels=("O", "B-GAME", "I-GAME")))


def other_size(by_bytes: int, bucket: Bucket, revision: Revision) -> None:
    put_manifest(bucket.remote(), altered(revision.manifest, files=replaced(revision, size_bytes=by_bytes)))


def other_shard(bucket: Bucket, revision: Revision) -> None:
    """Another file of the same model under the digest of the weights."""
    key = f"models/{blob_key(file_of(revision).sha256)}"
    bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"?" * file_of(revision).size_bytes)


def damaged_manifest(bucket: Bucket, revision: Revision) -> None:
    key = f"models/{manifest_key(hex_digits(revision.revision))}"
    bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"{}")


def replaced(revision: Revision, *, size_bytes: int) -> tuple[File, ...]:
    weights = file_of(revision)
    wrong = File(weights.path, weights.size_bytes + size_bytes, weights.sha256)
    return tuple(wrong if file == weights else file for file in revision.manifest.files)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (tag_to_nothing, NO_REVISION.removeprefix("sha256:")),
        (lost_manifest, "manifests/sha256/"),
        (lost_shard, "(model.safetensors)"),
        (damaged_manifest, hashlib.sha256(b"{}").hexdigest()),
        (other_labels, "'cv'"),
        (partial(other_size, 1), "model.safetensors"),
        (partial(other_size, -1), "model.safetensors"),
        (other_shard, "blobs/sha256/"),
    ],
    ids=["tag to nothing", "lost manifest", "lost shard", "damaged", "labels", "too large", "too small", "other shard"],
)
def test_a_remote_store_with_wrong_contents(
    bucket: Bucket, revision: Revision, tmp_path: Path, damage: Callable[[Bucket, Revision], None], named: str
) -> None:
    damage(bucket, revision)
    store = Store(tmp_path / "store")
    require_one_line(pull(store.root, addressed(bucket)), named)
    assert store.revisions() == ()
    assert store.references() == ()
