"""A remote store in a bucket of a real S3 server: objects, tags and their races, retries and refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from loadtest.s3.fault_proxy import ErrorResponse, Fault, ProxiedRequest
from model_store.errors import RemoteChanged, RemoteRefused, RemoteUnavailable
from model_store.reference import Tag, moved
from model_store.remote.retry import RetryPolicy
from model_store.remote.s3 import S3Remote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from tests.support.s3_buckets import Bucket, first
from tests.support.stores import WaitClock
from tests.support.tag_races import NAME, TAG, assert_no_move_lost, race

BRIEF = RetryPolicy(limit_seconds=0.3, first_wait_seconds=0.01)


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


def test_a_create_whose_response_was_lost_succeeds(bucket: Bucket) -> None:
    lost = first(1, ErrorResponse(500))

    def after_the_write(request: ProxiedRequest) -> Fault | None:
        return lost(request) if request.method == "PUT" else None

    remote = bucket.remote()
    bucket.direct.put_object(Bucket=bucket.name, Key="models/manifests/x", Body=b"ours")
    bucket.proxy.choose = after_the_write
    assert remote.create("manifests/x", b"ours")
    assert not remote.create("manifests/x", b"theirs")


def test_a_create_that_meets_a_concurrent_write_is_retried(bucket: Bucket) -> None:
    conflict = first(2, ErrorResponse(409, "ConditionalRequestConflict"))
    bucket.proxy.choose = lambda request: conflict(request) if request.method == "PUT" else None
    remote = bucket.remote()
    assert remote.create("tags/a/stable/1", b"one")
    assert bucket.proxy.faults == 2
    assert not remote.create("tags/a/stable/1", b"two")


def test_a_server_without_conditional_writes_is_refused_at_once(bucket: Bucket) -> None:
    bucket.proxy.choose = lambda request: ErrorResponse(501, "NotImplemented") if request.method == "PUT" else None
    with pytest.raises(RemoteRefused, match="NotImplemented"):
        bucket.remote().create("tags/a/stable/1", b"one")
    assert bucket.proxy.faults == 1


def test_a_file_in_parts_arrives_and_its_etag_pins_it(bucket: Bucket, tmp_path: Path) -> None:
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
    bucket.proxy.choose = lambda request: ErrorResponse(503) if "partNumber=2" in request.path else None
    with pytest.raises(RemoteUnavailable):
        bucket.remote(BRIEF).upload("w", path, lambda _: None)
    bucket.proxy.choose = lambda _request: None
    assert bucket.remote().stat("w") is None
    assert "Uploads" not in bucket.direct.list_multipart_uploads(Bucket=bucket.name)


def test_an_upload_whose_completion_was_lost_succeeds(bucket: Bucket, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"w" * 17_000_000)
    gone = first(1, ErrorResponse(404, "NoSuchUpload"))

    def choose(request: ProxiedRequest) -> Fault | None:
        """Complete the upload behind the client's back, and tell the client that it is gone."""
        if request.method != "POST" or "uploadId=" not in request.path:
            return None
        (upload,) = bucket.direct.list_multipart_uploads(Bucket=bucket.name)["Uploads"]
        where = {"Bucket": bucket.name, "Key": upload["Key"], "UploadId": upload["UploadId"]}
        parts = [
            {"PartNumber": part["PartNumber"], "ETag": part["ETag"]}
            for part in bucket.direct.list_parts(**where)["Parts"]
        ]
        bucket.direct.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
        return gone(request)

    bucket.proxy.choose = choose
    bucket.remote().upload("w", path, lambda _: None)
    assert bucket.proxy.faults == 1
    stat = bucket.remote().stat("w")
    assert stat is not None
    assert stat.size_bytes == path.stat().st_size


@pytest.mark.parametrize("status", [500, 503])
def test_a_busy_server_is_asked_again(bucket: Bucket, status: int) -> None:
    bucket.remote().create("a", b"a")
    bucket.proxy.choose = first(3, ErrorResponse(status))
    assert bucket.remote().read("a") == b"a"
    assert bucket.proxy.faults == 3


def test_a_server_that_stays_busy_is_given_up(bucket: Bucket) -> None:
    bucket.proxy.choose = lambda _request: ErrorResponse(503)
    waits = WaitClock()
    with pytest.raises(RemoteUnavailable, match=r"SlowDown.* times"):
        bucket.remote(replace(BRIEF, clock=waits, sleep=waits.sleep)).read("a")
    assert bucket.proxy.faults > 1


def test_wrong_credentials_are_refused_at_once(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(RemoteRefused, match="SignatureDoesNotMatch"):
        bucket.remote().read("a")
    assert len(bucket.proxy.requests) == 1


@pytest.mark.usefixtures("no_aws_files")
def test_missing_credentials_are_refused_without_a_request(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(RemoteRefused, match="credentials"):
        bucket.remote().read("a")
    assert bucket.proxy.requests == []


def test_a_missing_bucket_is_refused(bucket: Bucket) -> None:
    remote = S3Remote("vanished", "models", "path")
    with pytest.raises(RemoteRefused, match="s3://vanished/models"):
        remote.read("a")
    with pytest.raises(RemoteRefused, match="s3://vanished/models"):
        list(remote.stats("tags/"))


def test_a_server_that_is_down_is_unavailable(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with pytest.raises(RemoteUnavailable):
        bucket.remote(RetryPolicy(limit_seconds=0.2)).read("a")


def to(revision: str, old: Tag | None) -> Tag:
    return moved(old, revision, now_seconds=0.0)


def test_a_tag_that_has_not_moved_costs_one_request(bucket: Bucket) -> None:
    remote = bucket.remote()
    known, _ = change_remote_tag(remote, "a", "stable", partial(to, "sha256:" + "1" * 64))
    before = len(bucket.proxy.requests)
    assert read_remote_tag(remote, "a", "stable", known) == known
    assert [request.method for request in bucket.proxy.requests[before:]] == ["GET"]
    newer, _ = change_remote_tag(remote, "a", "stable", partial(to, "sha256:" + "2" * 64))
    assert read_remote_tag(remote, "a", "stable", known) == newer


REVISIONS = [f"sha256:{number:064x}" for number in range(16)]


def test_concurrent_publishers_lose_no_move(bucket: Bucket) -> None:
    numbers = race(bucket.remote, REVISIONS)
    assert sorted(numbers) == list(range(1, len(REVISIONS) + 1))
    assert_no_move_lost(bucket.remote(), REVISIONS)


def test_a_move_is_one_conditional_write(bucket: Bucket) -> None:
    race(bucket.remote, REVISIONS[:1])
    assert [request.method for request in bucket.proxy.requests].count("PUT") == 1
    assert not [request for request in bucket.proxy.requests if "claims" in request.path]
    key = f"models/tags/{NAME}/{TAG}/0000000001"
    with pytest.raises(ClientError, match="PreconditionFailed"):
        bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"other", IfNoneMatch="*")
