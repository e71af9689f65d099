"""`gleaner models pull` as a process, against everything that may be wrong: one clear sentence, exit code 1."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import Answer
from model_store.local.store import Revision, Store
from model_store.manifest import File
from model_store.reference import hex_digits
from model_store.remote.keys import blob_key, manifest_key
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from tests.s3.conftest import Bucket
from tests.support.lying_remotes import NOWHERE, altered, lie, point
from tests.support.model_folders import write_model

ROOT = Path(__file__).parents[2]
WEIGHTS = {"model.safetensors": b"w" * 400_000}


@pytest.fixture
def revision(bucket: Bucket, tmp_path: Path) -> Revision:
    """The model `cv`, which is in the bucket."""
    publisher = Store(tmp_path / "publisher")
    revision = publish(write_model(tmp_path / "model", WEIGHTS), "cv", publisher, tag=None).revision
    push(revision, publisher, bucket.remote(), tag="stable")
    return revision


def pull(store: Path, remote: str, prepare: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    arguments = ["models", "pull", "cv", "--store", str(store), "--remote", remote]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GLEANER_")}
    command = [sys.executable, "-m", "service.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, preexec_fn=prepare)


def require_one_sentence(ended: subprocess.CompletedProcess[str], words: str) -> None:
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.startswith("gleaner: The ")
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr
    assert ended.stdout == ""


def addressed(bucket: Bucket) -> str:
    return f"{bucket.url}?addressing=path"


@pytest.mark.usefixtures("revision")
def test_a_full_disk(bucket: Bucket, tmp_path: Path) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    store = Store(tmp_path / "store")
    require_one_sentence(pull(store.root, addressed(bucket), fill), "is full")
    assert store.revisions() == ()
    assert pull(store.root, addressed(bucket)).returncode == 0


@pytest.mark.usefixtures("revision")
def test_a_store_whose_place_is_taken_by_a_file(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    require_one_sentence(pull(tmp_path / "store", addressed(bucket)), "cannot be written to")


def test_a_bucket_that_is_gone(bucket: Bucket, tmp_path: Path) -> None:
    bucket.direct.delete_bucket(Bucket=bucket.name)
    require_one_sentence(pull(tmp_path / "store", addressed(bucket)), "The bucket of the remote store s3://bucket-")


@pytest.mark.usefixtures("revision")
@pytest.mark.parametrize("state", ["expired", "wrong", "unknown"])
def test_credentials_that_are_not_accepted(
    bucket: Bucket, tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if state == "expired":
        bucket.proxy.choose = lambda _request: Answer(400, "ExpiredToken")
    else:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY" if state == "wrong" else "AWS_ACCESS_KEY_ID", "nobody:nothing")
    code = "ExpiredToken" if state == "expired" else "SignatureDoesNotMatch"
    words = f"does not accept the credentials ({code}"
    require_one_sentence(pull(tmp_path / "store", addressed(bucket)), words)


def test_no_credentials_at_all(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    ended = pull(tmp_path / "store", addressed(bucket))
    assert ended.returncode == 1
    assert ended.stderr.startswith("gleaner: There are no AWS credentials for the remote store s3://bucket-")
    assert ended.stderr.count("\n") == 1


def tag_to_nothing(bucket: Bucket, _revision: Revision) -> None:
    point(bucket.remote(), "cv", NOWHERE)


def lost_manifest(bucket: Bucket, revision: Revision) -> None:
    bucket.remote().delete(manifest_key(hex_digits(revision.revision)))


def lost_shard(bucket: Bucket, revision: Revision) -> None:
    bucket.remote().delete(blob_key(weights_of(revision).sha256))


def other_labels(bucket: Bucket, revision: Revision) -> None:
    lie(bucket.remote(), altered(revision.manifest, labels=("O", "B-GAME", "I-GAME")))


def other_size(by_bytes: int, bucket: Bucket, revision: Revision) -> None:
    lie(bucket.remote(), altered(revision.manifest, files=replaced(revision, size_bytes=by_bytes)))


def other_shard(bucket: Bucket, revision: Revision) -> None:
    """Another file of the same model under the digest of the weights."""
    key = f"models/{blob_key(weights_of(revision).sha256)}"
    bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"?" * weights_of(revision).size_bytes)


def damaged_manifest(bucket: Bucket, revision: Revision) -> None:
    key = f"models/{manifest_key(hex_digits(revision.revision))}"
    bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"{}")


def weights_of(revision: Revision) -> File:
    return next(file for file in revision.manifest.files if file.path == "model.safetensors")


def replaced(revision: Revision, *, size_bytes: int) -> tuple[File, ...]:
    weights = weights_of(revision)
    lying = File(weights.path, weights.size_bytes + size_bytes, weights.sha256)
    return tuple(lying if file == weights else file for file in revision.manifest.files)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (tag_to_nothing, "of cv is not there, so nothing can be pulled."),
        (lost_manifest, "of cv is not there, so nothing can be pulled."),
        (lost_shard, "(model.safetensors) is not there. Publish the model again."),
        (damaged_manifest, "is damaged: its digest is sha256:"),
        (other_labels, "The manifest of 'cv' does not tell the truth about its files."),
        (partial(other_size, 1), "The manifest says that model.safetensors has "),
        (partial(other_size, -1), "The manifest says that model.safetensors has "),
        (other_shard, "is damaged: its SHA-256 should be"),
    ],
    ids=["tag to nothing", "lost manifest", "lost shard", "damaged", "labels", "too large", "too small", "other shard"],
)
def test_a_remote_store_that_does_not_hold_what_it_says(
    bucket: Bucket, revision: Revision, tmp_path: Path, spoil: Callable[[Bucket, Revision], None], words: str
) -> None:
    spoil(bucket, revision)
    store = Store(tmp_path / "store")
    require_one_sentence(pull(store.root, addressed(bucket)), words)
    assert store.revisions() == ()
    assert store.references() == ()
