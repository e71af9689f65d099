"""Pieces written in any order are hashed in order; after a crash, intact pieces are kept."""

from __future__ import annotations

import hashlib
import random
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model_store.local.partial_blob import PartialBlob, gaps, partial_sizes

DATA = random.Random(0).randbytes(10_000)
DIGEST = hashlib.sha256(DATA).hexdigest()
PIECE_BYTES = 700


def pieces() -> list[tuple[int, bytes]]:
    return [(start, DATA[start : start + PIECE_BYTES]) for start in range(0, len(DATA), PIECE_BYTES)]


def opened(folder: Path) -> PartialBlob:
    return PartialBlob(folder, DIGEST, len(DATA))


def test_pieces_in_any_order_give_the_digest_of_the_whole(tmp_path: Path) -> None:
    partial = opened(tmp_path)
    assert partial.missing == [(0, len(DATA))]
    mixed = random.Random(1).sample(pieces(), len(pieces()))
    for start, piece in mixed:
        assert not partial.complete
        partial.write(start, piece)
    assert partial.complete
    assert partial.found_digest == DIGEST
    assert partial.path.read_bytes() == DATA


def write_all(partial: PartialBlob, own: list[tuple[int, bytes]]) -> None:
    for start, piece in own:
        partial.write(start, piece)


def test_threads_that_write_at_once_give_the_digest_of_the_whole(tmp_path: Path) -> None:
    partial = opened(tmp_path)
    threads = [threading.Thread(target=write_all, args=(partial, pieces()[number::4])) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert partial.complete
    assert partial.found_digest == DIGEST


def test_pieces_in_and_out_of_order_are_kept_when_reopened(tmp_path: Path) -> None:
    first = opened(tmp_path)
    for start, piece in pieces()[:3] + pieces()[5:7]:
        first.write(start, piece)
    first.close()
    second = opened(tmp_path)
    assert second.missing == [(2100, 3500), (4900, 10_000)]
    for start, piece in pieces()[3:5] + pieces()[7:]:
        second.write(start, piece)
    assert second.found_digest == DIGEST


def damage(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"?")


def test_damaged_pieces_and_incomplete_lines_are_missing_again(tmp_path: Path) -> None:
    first = opened(tmp_path)
    for start, piece in (pieces()[0], *pieces()[2:6]):
        first.write(start, piece)
    first.close()
    damage(first.path, 2200)
    with first.path.open("r+b") as file:
        file.truncate(3600)
    with (tmp_path / f"{DIGEST}.journal").open("a") as journal:
        journal.write("2800 3500\n-1 99999999999 1\n9 x 1\n3500 42")
    second = opened(tmp_path)
    assert second.missing == [(700, 1400), (2100, 2800), (3500, 10_000)]
    assert second.path.stat().st_size == 3500


def test_in_order_pieces_are_kept_up_to_the_first_damage(tmp_path: Path) -> None:
    first = opened(tmp_path)
    for start, piece in pieces()[:4]:
        first.write(start, piece)
    first.close()
    damage(first.path, 800)
    second = opened(tmp_path)
    assert second.missing == [(700, 10_000)]
    for start, piece in pieces()[1:]:
        second.write(start, piece)
    assert second.found_digest == DIGEST
    assert opened(tmp_path).missing == []


def test_a_complete_file_that_was_not_renamed_is_complete_again(tmp_path: Path) -> None:
    first = opened(tmp_path)
    for start, piece in pieces():
        first.write(start, piece)
    first.close()
    second = opened(tmp_path)
    assert second.missing == []
    assert second.complete
    second.delete()
    second.close()
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.integers(0, 60), unique=True).map(sorted))
def test_gaps_and_intervals_partition_all_bytes(borders: list[int]) -> None:
    written = list(zip(borders[::2], borders[1::2], strict=False))
    covered = [*written, *gaps(written, 61)]
    assert sorted(byte for start, end in covered for byte in range(start, end)) == list(range(61))


def test_sizes_are_of_the_blobs_that_are_still_unfinished(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"whole").hexdigest()
    (tmp_path / digest).write_bytes(bytes(8192))
    (tmp_path / f"{digest}.journal").write_text("0 8192 0")
    (tmp_path / hashlib.sha256(b"finished meanwhile").hexdigest()).symlink_to(tmp_path / "finished")
    assert partial_sizes(tmp_path) == {digest: 8192}
    assert partial_sizes(tmp_path / "none") == {}
