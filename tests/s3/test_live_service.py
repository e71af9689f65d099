"""A running service whose remote store fails in many ways: the old revision goes on serving."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from loadtest.s3.fault_proxy import ErrorResponse, Fault, no_fault
from model_store.local.layout import Layout
from model_store.local.store import Revision, Store
from model_store.remote.base import blob_key
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from tests.support.revisions import TEXTS, Made, make_revision
from tests.support.s3_buckets import Bucket
from tests.support.service import Service, serving, wait_until
from tests.support.wrong_manifests import NO_REVISION, altered, point, put_manifest

NAME = "live"
TINY_BYTES = 4096
"""The largest file on a simulated full disk; the models are larger."""


class Rig:
    """A service that follows a bucket, the revision that it serves, and a newer one to which the tag does not point."""

    def __init__(self, service: Service, bucket: Bucket, home: Path, made: list[Made]) -> None:
        self.service, self.bucket, self.store = service, bucket, Layout(home / "store")
        self._made = made
        self.old, self.new = (put(bucket, home, each, tag="aside") for each in made)

    def answers(self, number: int, revision: Revision) -> None:
        """The service answers with this revision and its entities."""
        answer = self.service.extract(text=TEXTS[0], model=NAME)
        body = answer.json()
        assert answer.status_code == 200
        assert body["model"]["revision"] == revision.revision
        found = [(each["label"], each["start"], each["end"]) for each in body["documents"][0]["entities"]]
        assert found == self._made[number].found[TEXTS[0]]

    def model(self) -> dict[str, Any]:
        """The serving revision in /models."""
        models: list[dict[str, Any]] = self.service.get("/models").json()["models"]
        return next(each for each in models if each["name"] == NAME and each["state"] == "serving")

    def recover(self) -> None:
        """End the fault and wait until /models reports no problem."""
        self.bucket.proxy.choose = no_fault
        point(self.bucket.remote(), NAME, self.old.revision)
        wait_until(lambda: self.model()["problem"] == "")


def put(bucket: Bucket, home: Path, made: Made, *, tag: str) -> Revision:
    """Publish a revision into the bucket."""
    publisher = Store(home / "publisher")
    revision = publish(made.folder, NAME, publisher, tag=None).revision
    push(revision, publisher, bucket.remote(), tag=tag)
    return revision


Failure = Callable[[Rig], Any]


@contextmanager
def refused(fault: Fault, rig: Rig) -> Iterator[None]:
    rig.bucket.proxy.choose = lambda _request: fault
    yield


@contextmanager
def tag_to_nothing(rig: Rig) -> Iterator[None]:
    point(rig.bucket.remote(), NAME, NO_REVISION)
    yield


@contextmanager
def wrong_manifest(rig: Rig) -> Iterator[None]:
    labels = tuple(f"{label[:2]}X{label[2:]}" if "-" in label else label for label in rig.new.manifest.labels)
    put_manifest(rig.bucket.remote(), altered(rig.new.manifest, labels=labels))
    yield


@contextmanager
def lost_weights(rig: Rig) -> Iterator[None]:
    lost = next(file for file in rig.new.manifest.files if file.path.endswith(".safetensors"))
    rig.bucket.remote().delete(blob_key(lost.sha256))
    point(rig.bucket.remote(), NAME, rig.new.revision)
    yield
    rig.bucket.remote().upload(blob_key(lost.sha256), Path(rig.new.folder / lost.path), lambda _: None)


@contextmanager
def full_disk(rig: Rig) -> Iterator[None]:
    engine = rig.service.child("engine")
    limits = resource.prlimit(engine, resource.RLIMIT_FSIZE)
    resource.prlimit(engine, resource.RLIMIT_FSIZE, (TINY_BYTES, limits[1]))
    point(rig.bucket.remote(), NAME, rig.new.revision)
    yield
    resource.prlimit(engine, resource.RLIMIT_FSIZE, limits)


@contextmanager
def unwritable_store(rig: Rig) -> Iterator[None]:
    """A file in place of the folder of downloads: root may write into any folder, but not into a file."""
    rig.store.partial.rename(rig.store.root / "aside")
    rig.store.partial.write_text("no folder")
    point(rig.bucket.remote(), NAME, rig.new.revision)
    yield
    rig.store.partial.unlink()
    (rig.store.root / "aside").rename(rig.store.partial)


FAILURES: list[tuple[Failure, str]] = [
    (partial(refused, ErrorResponse(404, "NoSuchBucket")), "bucket"),
    (partial(refused, ErrorResponse(400, "ExpiredToken")), "ExpiredToken"),
    (partial(refused, ErrorResponse(403)), "AccessDenied"),
    (tag_to_nothing, "is not there, so nothing can be pulled"),
    (full_disk, "is full"),
    (unwritable_store, "cannot be written to"),
    (lost_weights, "is not there. Publish the model again."),
    (wrong_manifest, "does not tell the truth about its files"),
]
"""Failures and the problems in /models. The wrong manifest is last: its files arrive and are then not missing."""


def test_the_old_revision_serves_through_every_failure_of_the_store(bucket: Bucket, tmp_path: Path) -> None:
    made = [make_revision(tmp_path / f"made-{number}", number) for number in range(2)]
    put(bucket, tmp_path, made[0], tag="stable")
    remote = f"{bucket.url}?addressing=path"
    with serving(tmp_path, MODELS=NAME, DTYPE="float32", MODEL_REMOTE=remote, MODEL_POLL_SECONDS=0.1) as service:
        rig = Rig(service, bucket, tmp_path, made)
        rig.answers(0, rig.old)
        for failure, problem in FAILURES:
            with failure(rig):
                wait_until(lambda expected=problem: expected in rig.model()["problem"])  # type: ignore[misc]
                rig.answers(0, rig.old)
                rig.recover()
        assert service.metric("gleaner_revision_switches_total{") >= len(FAILURES)
        assert service.metric('gleaner_revision_switches_total{model="live",outcome="switched",tag="stable"}') == 0
        point(bucket.remote(), NAME, rig.new.revision)
        wait_until(lambda: rig.model()["revision"] == rig.new.revision)
        rig.answers(1, rig.new)
        assert service.metric("gleaner_engine_starts_total") == 1
