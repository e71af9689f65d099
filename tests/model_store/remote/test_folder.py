"""A remote store in a folder: objects appear atomically, and errors of the disk are the store's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from model_store.errors import RemoteChanged, RemoteRefused
from model_store.remote.folder import FolderRemote


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
