"""The work queue of a download: ranges are taken, blobs are completed, the first failure ends it."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model_store.local.partial_blob import PartialBlob
from model_store.manifest import File
from model_store.transfer.range_queue import BlobDownload, RangeQueue, cut


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


def test_a_range_that_is_left_keeps_a_blob_incomplete(tmp_path: Path) -> None:
    a = blob(tmp_path, "a", (0, 5), (5, 10))
    queue = RangeQueue([a])
    queue.take()
    assert not queue.done(a)


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
