"""Whole files: hashed while copied, renamed at the end, cleaned up."""

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
def test_a_copy_is_the_same_and_its_digest_is_that_of_the_bytes(tmp_path: Path, size_bytes: int) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(size_bytes))
    steps: list[int] = []
    digest = fileio.copy_hashed(source, target, steps.append)
    assert target.read_bytes() == source.read_bytes()
    assert digest == hashlib.sha256(source.read_bytes()).hexdigest() == fileio.hash_file(source)
    assert sum(steps) == size_bytes


def test_nothing_is_copied_over_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"new")
    (tmp_path / "target").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        fileio.copy_hashed(tmp_path / "source", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"old"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.binary(max_size=100), st.binary(max_size=100))
def test_a_file_is_replaced_in_one_step(tmp_path: Path, old: bytes, new: bytes) -> None:
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


def test_a_temporary_name_is_gone_afterwards_whatever_it_was(tmp_path: Path) -> None:
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
def test_what_the_system_says_becomes_a_sentence(number: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="model store /somewhere"), fileio.writing(Path("/somewhere")):
        raise OSError(number, os.strerror(number))


def test_free_space_is_known_before_the_store_exists(tmp_path: Path) -> None:
    assert fileio.free_bytes(tmp_path / "not" / "yet") > 0
