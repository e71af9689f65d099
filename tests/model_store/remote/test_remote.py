"""Remote stores: keys, the URL that opens one, the list of all models, a store in a folder, and retries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from model_store.errors import InvalidRemote, RemoteChanged, RemoteRefused, RemoteUnavailable
from model_store.reference import hex_digits, moved
from model_store.remote.base import manifest_in, manifest_key, tag_in, tag_key
from model_store.remote.folder import FolderRemote
from model_store.remote.listing import list_remote
from model_store.remote.open import open_remote
from model_store.remote.retry import Attempts, RetryPolicy, with_retries
from model_store.remote.s3 import S3Remote
from model_store.remote.tags import change_remote_tag
from tests.support.stores import SHARDS, Upload, WaitClock

DIGEST = "a" * 64


def test_keys_are_recognised_by_what_made_them() -> None:
    assert manifest_in(manifest_key(DIGEST)) == DIGEST
    assert tag_in(tag_key("cv", "stable", 12)) == ("cv", "stable", 12)


@pytest.mark.parametrize(
    "key",
    [
        "blobs/sha256/" + DIGEST,
        "manifests/sha256/short.json",
        "tags/cv/stable/1",
        "tags/cv/stable/0000000001/more",
        "claims/cv/stable/0000000001/0123456789abcdef",
        "",
    ],
)
def test_other_keys_are_neither_manifests_nor_tags(key: str) -> None:
    assert manifest_in(key) is None
    assert tag_in(key) is None


def test_a_file_url_opens_a_folder() -> None:
    assert open_remote("file:///srv/my%20models") == FolderRemote(Path("/srv/my models"))


@pytest.mark.parametrize(
    ("url", "bucket", "prefix", "addressing"),
    [
        ("s3://models", "models", "", None),
        ("s3://models/a/b/", "models", "a/b", None),
        ("s3://models/a?addressing=path", "models", "a", "path"),
    ],
)
def test_an_s3_url_opens_a_bucket(url: str, bucket: str, prefix: str, addressing: str | None) -> None:
    assert open_remote(url) == S3Remote(bucket, prefix, addressing)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models",
        "/srv/models",
        "file://host/models",
        "file:///models?x=1",
        "s3://",
        "ftp://models",
        "s3://models?style=path",
        "s3://models?addressing=other",
        "s3://models?addressing=path&x=1",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidRemote):
        open_remote(url)


def test_every_revision_is_listed_with_its_tags(remote: FolderRemote, upload: Upload) -> None:
    first, _ = upload()
    second, _ = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    change_remote_tag(remote, "documents", "next", lambda old: moved(old, second.revision, now_seconds=0.0))
    listed = {model.revision: model for model in list_remote(remote)}
    assert {revision: model.tags for revision, model in listed.items()} == {
        first.revision: (),
        second.revision: ("next", "stable"),
    }
    assert listed[first.revision].size_bytes == first.manifest.size_bytes
    assert 0 < listed[first.revision].shared_bytes < first.manifest.size_bytes


def test_damaged_and_missing_manifests_and_tags_are_listed(remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    (remote.root / manifest_key(hex_digits(revision.revision))).write_bytes(b"{}")
    missing = "sha256:" + "1" * 64
    change_remote_tag(remote, "cv", "stable", lambda old: moved(old, missing, now_seconds=0.0))
    remote.create(tag_key("torn", "stable", 1), b"{")
    listed = {model.name: model for model in list_remote(remote)}
    assert all(model.problem for model in listed.values())
    assert {name: (model.revision, model.tags) for name, model in listed.items()} == {
        "documents": (revision.revision, ("stable",)),
        "cv": (missing, ("stable",)),
        "torn": ("", ("stable",)),
    }


def test_an_object_is_created_read_listed_and_deleted(tmp_path: Path) -> None:
    remote = FolderRemote(tmp_path / "remote")
    assert remote.read("a/b") is None
    assert remote.create("a/b", b"one")
    assert not remote.create("a/b", b"two")
    assert remote.read("a/b") == b"one"
    assert [(stat.key, stat.size_bytes) for stat in remote.stats("a/")] == [("a/b", 3)]
    remote.delete("a/b")
    remote.delete("a/b")
    assert remote.stat("a/b") is None


def test_of_concurrent_creates_of_one_key_exactly_one_succeeds(tmp_path: Path) -> None:
    remote = FolderRemote(tmp_path / "remote")
    contents = [b"%d" % number for number in range(16)]
    with ThreadPoolExecutor(len(contents)) as pool:
        for key in "abcdefghij":
            created = list(pool.map(partial(remote.create, key), contents))
            assert created.count(True) == 1
            assert remote.read(key) == contents[created.index(True)]


def test_an_upload_replaces_the_object_and_its_etag(tmp_path: Path) -> None:
    remote, source = FolderRemote(tmp_path / "remote"), tmp_path / "source"
    stats, seen = [], list[int]()
    for data in (b"first", b"second one"):
        source.write_bytes(data)
        remote.upload("w", source, seen.append)
        stats.append(remote.stat("w"))
    assert stats[0] != stats[1]
    assert sum(seen) == 15
    assert remote.read("w") == b"second one"


def test_a_range_is_read_of_the_object_with_the_right_etag(tmp_path: Path) -> None:
    remote = FolderRemote(tmp_path)
    remote.create("w", b"0123456789")
    stat = remote.stat("w")
    assert stat is not None
    with remote.open_range("w", 2, 5, stat.etag) as opened:
        assert (b"".join(opened.pieces), opened.size_bytes) == (b"234", 10)
    for key, end, etag in (("w", 5, "other"), ("w", 11, None), ("none", 5, None)):
        with pytest.raises(RemoteChanged), remote.open_range(key, 0, end, etag):
            pass


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RemoteRefused):
        FolderRemote(tmp_path / "file").read("a")
    with pytest.raises(RemoteRefused):
        list(FolderRemote(tmp_path / "none").stats(""))


def policy(clock: WaitClock, share: float = 1.0) -> RetryPolicy:
    return RetryPolicy(limit_seconds=10.0, random=lambda: share, clock=clock, sleep=clock.sleep)


def test_waits_double_up_to_a_limit_and_are_drawn_from_zero_to_that() -> None:
    full, half = policy(WaitClock()), policy(WaitClock(), share=0.5)
    assert [round(full.wait_seconds(failures), 3) for failures in (1, 2, 3, 7, 8, 1000)] == [0.1, 0.2, 0.4, 6.4, 8, 8]
    assert half.wait_seconds(3) == pytest.approx(0.2)


def test_work_is_repeated_until_it_succeeds() -> None:
    left = [3]

    def work() -> str:
        left[0] -= 1
        if left[0]:
            raise RemoteUnavailable("not now.")
        return "done"

    assert with_retries(policy(WaitClock()), work) == "done"


def test_the_error_after_the_limit_says_how_often_it_was_tried() -> None:
    clock = WaitClock()

    def work() -> None:
        raise RemoteUnavailable("not now.")

    with pytest.raises(RemoteUnavailable, match=r"not now\..* 7 times in 6 s"):
        with_retries(policy(clock), work)
    assert clock.now_seconds <= 10.0


def test_progress_restarts_the_time_limit() -> None:
    clock = WaitClock()
    attempts = Attempts(policy(clock))
    for _ in range(100):
        attempts.failed(RemoteUnavailable("not now."))
        attempts.progress()
    assert clock.now_seconds == pytest.approx(100 * 0.1)


def test_a_refusal_is_not_retried() -> None:
    tried = [0]

    def work() -> None:
        tried[0] += 1
        raise RemoteRefused("no.")

    with pytest.raises(RemoteRefused):
        with_retries(policy(WaitClock()), work)
    assert tried == [1]
