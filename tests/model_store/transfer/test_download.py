"""Downloads: ranges, retries, corrupt copies; and the queue of ranges."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.errors import CorruptObject, InvalidManifest, MissingFile
from model_store.local.layout import Layout
from model_store.local.partial_blob import PartialBlob
from model_store.local.store import Store
from model_store.manifest import File
from model_store.remote.base import blob_key
from model_store.remote.folder import FolderRemote
from model_store.transfer.download import BlobDownload, Download, RangeQueue, cut
from tests.support.stores import QUICK, SHARDS, Upload, assert_intact, file_of


def download(store: Store, remote: FolderRemote, *files: File) -> int:
    """Download the files; the bytes that were counted."""
    counted: list[int] = []
    Download(Layout(store.root), remote, QUICK, counted.append).run(files)
    return sum(counted)


def test_blobs_arrive_intact_and_every_byte_is_counted(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    assert download(store, remote, *revision.manifest.files) == revision.manifest.size_bytes
    assert {path.name for path in store.layout.blobs.iterdir()} == {file.sha256 for file in revision.manifest.files}
    assert_intact(store)
    assert list(store.layout.partial.iterdir()) == []


def test_a_missing_object_is_an_error_and_other_blobs_stay(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    config, file = file_of(revision, "config.json"), file_of(revision, "model-0.safetensors")
    remote.delete(blob_key(file.sha256))
    download(store, remote, config)
    with pytest.raises(MissingFile, match=file.sha256):
        download(store, remote, file)
    assert [path.name for path in store.layout.blobs.iterdir()] == [config.sha256]


def test_a_corrupt_object_is_quarantined_and_fetched_twice(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    file = file_of(revision, "model-3.safetensors")
    path = remote.root / blob_key(file.sha256)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(CorruptObject) as corrupt:
        download(store, remote, file)
    assert corrupt.value.wanted == file.sha256
    assert file.sha256 in corrupt.value.url
    assert not store.layout.blob(file.sha256).exists()
    assert (store.layout.quarantine / file.sha256).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("more_bytes", [1, -1])
def test_an_object_of_another_size_is_refused(
    store: Store, remote: FolderRemote, upload: Upload, more_bytes: int
) -> None:
    revision, _ = upload()
    file = file_of(revision, "model-0.safetensors")
    with pytest.raises(InvalidManifest):
        download(store, remote, File(file.path, file.size_bytes + more_bytes, file.sha256))
    assert not store.layout.blobs.exists()


def test_an_interrupted_download_continues_where_it_was(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    files = [file_of(revision, name) for name in SHARDS]
    remote.delete(blob_key(files[0].sha256))
    with pytest.raises(MissingFile):
        download(store, remote, *files)
    upload("again")
    download(store, remote, *(file for file in files if not store.layout.blob(file.sha256).exists()))
    assert_intact(store)


def blob(folder: Path, letter: str, *ranges: tuple[int, int]) -> BlobDownload:
    digest = letter * 64
    return BlobDownload(File(letter, 10, digest), PartialBlob(folder, digest, 10), deque(ranges))


def test_workers_take_ranges_of_different_blobs_first(tmp_path: Path) -> None:
    a, b = blob(tmp_path, "a", (0, 5), (5, 10)), blob(tmp_path, "b", (0, 10))
    queue = RangeQueue([a, b])
    assert [queue.take() for _ in range(4)] == [(a, (0, 5)), (b, (0, 10)), (a, (5, 10)), None]


def test_the_last_range_of_a_blob_completes_it(tmp_path: Path) -> None:
    a = blob(tmp_path, "a", (0, 5), (5, 10))
    queue = RangeQueue([a])
    queue.take(), queue.take()
    assert not queue.done(a)
    assert queue.done(a)


def test_a_failure_ends_the_queue_and_the_first_is_kept(tmp_path: Path) -> None:
    a = blob(tmp_path, "a", (0, 5), (5, 10))
    queue, first = RangeQueue([a]), OSError("first")
    queue.take()
    queue.fail(first)
    queue.fail(OSError("second"))
    assert queue.take() is None
    assert queue.failure is first
    assert not queue.done(a)


@given(st.integers(1, 100), st.integers(1, 300))
def test_cut_intervals_cover_the_same_bytes(size_bytes: int, end: int) -> None:
    parts = list(cut([(3, 3 + end)], size_bytes))
    assert [byte for start, stop in parts for byte in range(start, stop)] == list(range(3, 3 + end))
    assert all(stop - start <= size_bytes for start, stop in parts)
