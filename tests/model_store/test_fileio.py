"""File operations: whole or not at all; and progress in bytes."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_store import fileio
from model_store.errors import StoreFull, StoreUnwritable


@pytest.mark.parametrize("size_bytes", [0, 1, fileio.CHUNK_BYTES, fileio.CHUNK_BYTES + 1])
def test_a_copy_has_the_same_bytes_and_their_digest(tmp_path: Path, size_bytes: int) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(size_bytes))
    steps: list[int] = []
    digest = fileio.copy_hashed(source, target, steps.append)
    assert target.read_bytes() == source.read_bytes()
    assert digest == hashlib.sha256(source.read_bytes()).hexdigest() == fileio.hash_file(source)
    assert sum(steps) == size_bytes


def test_a_copy_does_not_overwrite_a_file(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"new")
    (tmp_path / "target").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        fileio.copy_hashed(tmp_path / "source", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"old"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.binary(max_size=100), st.binary(max_size=100))
def test_a_written_file_has_the_new_content_and_leaves_no_other(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "deep" / "er" / "file"
    for data in (old, new):
        fileio.write_whole(path, data, tmp_path / "temporary")
        assert path.read_bytes() == data
    assert list((tmp_path / "temporary").iterdir()) == []


def interrupted_write(temporary: Path) -> None:
    with fileio.temporary_name(temporary) as file, fileio.temporary_name(temporary) as folder:
        file.write_bytes(b"half")
        (folder / "below").mkdir(parents=True)
        raise KeyboardInterrupt


def test_a_temporary_file_or_folder_is_removed_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EROFS, StoreUnwritable),
        (errno.EACCES, StoreUnwritable),
        (errno.EIO, StoreUnwritable),
    ],
)
def test_a_failed_write_becomes_a_store_error(number: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="/somewhere"), fileio.writing(Path("/somewhere")):
        raise OSError(number, os.strerror(number))
