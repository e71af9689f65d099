"""A remote store in a bucket of a real S3 server: objects, tags, and what the server refuses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import Answer, Fault, Request, Truncate
from model_store.errors import RemoteChanged, RemoteRefused, RemoteUnavailable
from model_store.local.tags import Tag, moved
from model_store.remote.base import open_remote
from model_store.remote.retry import Patience
from model_store.remote.s3 import S3Remote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from tests.s3.conftest import Bucket


def first(number: int, fault: Fault) -> Callable[[Request], Fault | None]:
    """The fault for the first requests only."""
    left = [number]

    def choose(_request: Request) -> Fault | None:
        left[0] -= 1
        return fault if left[0] >= 0 else None

    return choose


def test_a_small_object_is_created_once_and_read_back(bucket: Bucket) -> None:
    remote = bucket.remote()
    assert remote.read("tags/a/stable/1") is None
    assert remote.create("tags/a/stable/1", b"one")
    assert not remote.create("tags/a/stable/1", b"two")
    assert remote.read("tags/a/stable/1") == b"one"
    assert [stat.key for stat in remote.stats("tags/")] == ["tags/a/stable/1"]
    remote.delete("tags/a/stable/1")
    remote.delete("tags/a/stable/1")
    assert remote.stat("tags/a/stable/1") is None


def test_a_create_whose_answer_was_lost_is_known_as_our_own(bucket: Bucket) -> None:
    bucket.proxy.choose = first(1, Truncate(0))
    lost = first(1, Answer(500))

    def after_the_write(request: Request) -> Fault | None:
        return lost(request) if request.method == "PUT" else None

    remote = bucket.remote()
    bucket.direct.put_object(Bucket=bucket.name, Key="models/manifests/x", Body=b"ours")
    bucket.proxy.choose = after_the_write
    assert remote.create("manifests/x", b"ours")
    assert not remote.create("manifests/x", b"theirs")


def test_a_file_in_parts_arrives_with_its_bytes_and_its_etag_pins_them(bucket: Bucket, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(range(256)) * 90_000)
    remote, seen = bucket.remote(), list[int]()
    remote.upload("blobs/w", path, seen.append)
    assert sum(seen) == path.stat().st_size
    stat = remote.stat("blobs/w")
    assert stat is not None
    assert stat.size_bytes == path.stat().st_size
    for etag in (stat.etag, None):
        with remote.open_range("blobs/w", 16_777_000, 16_778_000, etag) as opened:
            assert b"".join(opened.pieces) == path.read_bytes()[16_777_000:16_778_000]
            assert (opened.etag, opened.size_bytes) == (stat.etag, stat.size_bytes)
    with pytest.raises(RemoteChanged), remote.open_range("blobs/w", 0, 9, '"another"'):
        pass
    end = stat.size_bytes
    with pytest.raises(RemoteChanged), remote.open_range("blobs/w", end - 5, end + 5, stat.etag):
        pass


def test_a_failed_upload_in_parts_leaves_no_object_and_no_parts(bucket: Bucket, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"w" * 20_000_000)
    bucket.proxy.choose = lambda request: Answer(503) if "partNumber=2" in request.path else None
    with pytest.raises(RemoteUnavailable):
        bucket.remote(patience=Patience(limit_seconds=0.3, first_wait_seconds=0.01)).upload("w", path, lambda _: None)
    bucket.proxy.choose = lambda _request: None
    assert bucket.remote().stat("w") is None
    assert "Uploads" not in bucket.direct.list_multipart_uploads(Bucket=bucket.name)


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_is_busy_is_asked_again(bucket: Bucket, status: int) -> None:
    bucket.remote().create("a", b"a")
    bucket.proxy.reset_counts()
    bucket.proxy.choose = first(3, Answer(status))
    assert bucket.remote().read("a") == b"a"
    assert bucket.proxy.faults == 3


def test_a_server_that_stays_busy_is_given_up_with_how_often_it_was_asked(bucket: Bucket) -> None:
    bucket.proxy.choose = lambda _request: Answer(503)
    with pytest.raises(RemoteUnavailable, match=r"SlowDown.*It was tried \d+ times"):
        bucket.remote(patience=Patience(limit_seconds=0.3, first_wait_seconds=0.01)).read("a")


def test_wrong_credentials_are_said_at_once(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(RemoteRefused, match=r"does not accept the credentials \(SignatureDoesNotMatch"):
        bucket.remote().read("a")
    assert len(bucket.proxy.requests) == 1


@pytest.mark.usefixtures("no_aws_files")
def test_missing_credentials_are_said(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(RemoteRefused, match="no AWS credentials"):
        bucket.remote().read("a")


def test_a_bucket_that_is_not_there_is_said(bucket: Bucket) -> None:
    remote = S3Remote("vanished", "models", "path")
    with pytest.raises(RemoteRefused, match=r"The bucket of the remote store s3://vanished/models is not there"):
        remote.read("a")
    with pytest.raises(RemoteRefused, match="is not there"):
        list(remote.stats("tags/"))


def test_a_server_that_is_not_there_is_said(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with pytest.raises(RemoteUnavailable, match="cannot be reached"):
        bucket.remote(patience=Patience(limit_seconds=0.2)).read("a")


def test_a_url_with_path_style_and_without_a_prefix_is_understood(bucket: Bucket) -> None:
    remote = open_remote(f"s3://{bucket.name}?addressing=path")
    assert remote.create("a", b"a")
    assert open_remote(f"s3://{bucket.name}/").read("a") == b"a"
    assert remote.url == f"s3://{bucket.name}"


def to(revision: str, old: Tag | None) -> Tag:
    return moved(old, revision, now_seconds=0.0)


def test_publishers_that_move_one_tag_at_once_lose_no_move(bucket: Bucket) -> None:
    revisions = [f"sha256:{number:064x}" for number in range(12)]

    def move(own: list[str]) -> None:
        for revision in own:
            change_remote_tag(remote, "a", "stable", partial(to, revision))

    remote = bucket.remote()
    threads = [threading.Thread(target=move, args=(revisions[number::4],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read_remote_tag(remote, "a", "stable")
    assert found is not None
    assert found.number == 12
    assert sorted((found.revision, *found.tag.earlier)) == revisions


def test_a_tag_that_has_not_moved_costs_one_request(bucket: Bucket) -> None:
    remote = bucket.remote()
    known, _ = change_remote_tag(remote, "a", "stable", partial(to, "sha256:" + "1" * 64))
    bucket.proxy.reset_counts()
    assert read_remote_tag(remote, "a", "stable", known) == known
    assert [request.method for request in bucket.proxy.requests] == ["GET"]
    newer, _ = change_remote_tag(remote, "a", "stable", partial(to, "sha256:" + "2" * 64))
    assert read_remote_tag(remote, "a", "stable", known) == newer
