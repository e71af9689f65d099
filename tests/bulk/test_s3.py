"""Inputs and jobs in S3: versions, pages of listings, conditional writes, and errors that are an object's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.bulk.s3 import AccessDenied, KeyDenied, S3Inputs, S3Place, S3Storage, place_of
from service.bulk.storage import ObjectChanged, ObjectMissing, StorageError, UnreadableFile
from service.core.bulk import Item
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions
from tests.support.bulk_cloud import BulkCloud, refusing


def _inputs(cloud: BulkCloud, prefix: str = "2026/") -> S3Inputs:
    return S3Inputs(f"s3://{cloud.source}/{prefix}")


def test_a_place_is_a_bucket_and_a_prefix() -> None:
    assert place_of("s3://in/2026/a/") == S3Place("in", "2026/a")
    assert place_of("s3://in") == S3Place("in", "")
    assert place_of("s3://in/a?b#c") == S3Place("in", "a?b#c")
    for bad in ("in/2026", "s3:///x", "https://in/x", "s3:/in"):
        with pytest.raises(InvalidOptions):
            place_of(bad)


@pytest.mark.parametrize(
    ("outer", "inner", "holds"),
    [("a", "a/b", True), ("a", "a", True), ("", "a", True), ("a", "ab", False), ("a/b", "a", False)],
)
def test_a_place_holds_what_is_below_it(outer: str, inner: str, holds: bool) -> None:
    assert S3Place("in", outer).holds(S3Place("in", inner)) is holds
    assert not S3Place("in", outer).holds(S3Place("out", inner))


def test_inputs_are_the_objects_below_a_prefix_without_folders(cloud: BulkCloud) -> None:
    cloud.put({"2026/a.txt": b"a", "2026/b/c d+é.txt": b"cd", "2026/b/": b"", "2026x": b"no", "2027/a": b"no"})
    cloud.put({"2026/with text/": b"text"})
    items = list(_inputs(cloud).items())
    found = [("2026/a.txt", 1), ("2026/b/c d+é.txt", 2), ("2026/with text/", 4)]
    assert [(item.key, item.size_bytes) for item in items] == found
    assert [_inputs(cloud).read(item).data for item in items] == [b"a", b"cd", b"text"]
    assert _inputs(cloud).read(items[2]).name == "with text"
    assert _inputs(cloud).read(items[1]).name == "c d+é.txt"
    assert [item.key for item in _inputs(cloud, "2026/a.txt").items()] == ["2026/a.txt"]
    assert _inputs(cloud, "2026").names == _inputs(cloud).names


def test_listings_are_read_page_by_page(cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "3")
    keys = [f"2026/{number}" for number in range(8)]
    cloud.put(dict.fromkeys(keys, b""))
    assert [item.key for item in _inputs(cloud).items()] == keys


def test_an_object_that_is_gone_or_another_one_is_said(cloud: BulkCloud) -> None:
    cloud.put({"2026/a": b"one", "2026/b": b"two"})
    first, second = _inputs(cloud).items()
    cloud.put({"2026/a": b"uno"})
    cloud.s3.delete_object(Bucket=cloud.source, Key="2026/b")
    with pytest.raises(ObjectChanged):
        _inputs(cloud).read(first)
    with pytest.raises(ObjectMissing):
        _inputs(cloud).read(second)
    with pytest.raises(DocumentTooLarge):
        _inputs(cloud).read(Item("2026/a", "x", 1 << 40))


KEY = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"
KMS = f"User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: kms:Decrypt on resource: {KEY}"


@pytest.mark.parametrize(
    ("status", "code", "message", "kind", "words"),
    [
        (403, "AccessDenied", KMS, KeyDenied, f"The KMS key {KEY} may not be used"),
        (400, "KMS.DisabledException", "", KeyDenied, "that it is encrypted with"),
        (403, "AccessDenied", "User: arn:aws:sts::1:assumed-role/a/b is not allowed", AccessDenied, "credentials"),
        (403, "InvalidObjectState", "Archived", UnreadableFile, "archived"),
        (400, "ExpiredToken", "Old", StorageError, "Renew them"),
    ],
)
def test_a_refusal_is_an_objects_own_or_nobodys(
    cloud: BulkCloud,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    code: str,
    message: str,
    kind: type[GleanerError],
    words: str,
) -> None:
    with refusing(status, code, message) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(kind, match=words) as found:
            _inputs(cloud).read(Item("2026/a", "x", 1))
        assert "assumed-role" not in found.value.detail, "rows are the same whoever made them"
        with pytest.raises(StorageError):
            list(_inputs(cloud).items())


def test_a_key_that_may_not_be_used_for_results_is_said(cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = S3Storage(place_of(cloud.output("job")))
    with refusing(403, "AccessDenied", KMS) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(StorageError, match=f"KMS key that may not be used.*{KEY}"):
            storage.put_once("parts/a.jsonl", b"1")


def test_a_bucket_that_is_not_there_is_the_callers_error(cloud: BulkCloud) -> None:
    with pytest.raises(InvalidOptions, match="not there"):
        list(S3Inputs("s3://there-is-none-of-that-name/x").items())
    with pytest.raises(StorageError):
        list(S3Storage(S3Place("there-is-none-of-that-name", "x")).names("parts/"))


def test_a_document_of_a_job_is_written_once(cloud: BulkCloud, tmp_path: Path) -> None:
    storage = S3Storage(place_of(cloud.output("job")))
    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(lambda number: storage.put_once("parts/a.jsonl", b"%d" % number), range(4)))
    assert sum(won) == 1
    assert storage.read("parts/a.jsonl") == b"%d" % won.index(True)
    assert storage.read("parts/b.jsonl") is None
    storage.put("summary.json", b"1")
    storage.put("summary.json", b"2")
    (tmp_path / "rows").write_bytes(b"3")
    storage.upload("rows.jsonl", tmp_path / "rows")
    assert [storage.read(name) for name in ("summary.json", "rows.jsonl")] == [b"2", b"3"]
    assert list(storage.names("parts/")) == ["parts/a.jsonl"]
    storage.delete("parts/a.jsonl")
    storage.delete("parts/a.jsonl")
    assert list(storage.names("parts/")) == []


def test_a_key_that_is_no_input_of_its_job_is_not_read() -> None:
    """A job that others made may name any object that the worker's role may read."""
    for key in ("secret/a.pdf", "into/a.pdf", "../in/a.pdf"):
        with pytest.raises(UnreadableFile, match="no input"):
            S3Inputs("s3://bucket/in/").read(Item(key, "v", 1))
