"""A job's folder: documents written once and whole."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.bulk.storage import FolderStorage, JobBusy, StorageError


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path / "job")
    assert storage.read("parts/a.jsonl") is None
    assert storage.put_once("parts/a.jsonl", b"first")
    assert not storage.put_once("parts/a.jsonl", b"second")
    assert storage.read("parts/a.jsonl") == b"first"


def test_of_racing_writers_one_wins_and_its_document_is_whole(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(lambda number: storage.put_once("a", bytes([number]) * 100_000), range(8)))
    assert won.count(True) == 1
    assert storage.read("a") == bytes([won.index(True)]) * 100_000


def test_documents_are_listed_replaced_and_deleted(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path / "job")
    assert list(storage.names("parts/")) == []
    for name in ("parts/b", "parts/a", "plan/1", "summary.json"):
        storage.put_once(name, b"")
    storage.put("parts/a", b"new")
    file = tmp_path / "large"
    file.write_bytes(b"large")
    storage.upload("parts/c", file)
    assert list(storage.names("parts/")) == ["parts/a", "parts/b", "parts/c"]
    assert [storage.read(name) for name in storage.names("parts/")] == [b"new", b"", b"large"]
    storage.delete("parts/a")
    storage.delete("parts/a")
    assert storage.read("parts/a") is None


def test_what_a_killed_writer_left_is_no_document_and_is_removed(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    storage.put_once("parts/a", b"")
    (tmp_path / ".partial" / "torn").write_bytes(b"{")
    assert list(storage.names("parts/")) == ["parts/a"]
    with storage.alone():
        assert not (tmp_path / ".partial").exists()


def test_a_job_is_worked_on_by_one_process(tmp_path: Path) -> None:
    with (
        FolderStorage(tmp_path).alone(),
        pytest.raises(JobBusy, match="Another process"),
        FolderStorage(tmp_path).alone(),
    ):
        pass
    with FolderStorage(tmp_path).alone():
        pass


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    storage = FolderStorage(tmp_path / "file")
    for call in (lambda: storage.put_once("a", b""), lambda: storage.put("a", b""), lambda: storage.read("a")):
        with pytest.raises(StorageError, match=r"folder .*file cannot be used: Not a directory"):
            call()


def test_a_disk_without_room_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path / "job")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(StorageError, match=r"job cannot be used: File too large\.$"):
            storage.put_once("parts/a", b"a" * 2_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
