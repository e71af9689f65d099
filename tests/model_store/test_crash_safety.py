"""File operations, and publishing by processes that are killed, run concurrently, or find the disk full.

At every moment a file under its final name is complete, a manifest's blobs are stored, and a tag resolves.
"""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_store import fileio
from model_store.errors import StoreFull, StoreUnwritable
from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.local.verify import verify_store
from model_store.transfer.publish import publish
from tests.support.stores import MakeModel, assert_intact

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "publish_process.py"


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> list[str]:
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return printed.splitlines()


def test_a_publish_killed_at_any_step_is_finished_by_the_next(make_model: MakeModel, tmp_path: Path) -> None:
    stores = tmp_path / "stores"
    old = publish(make_model("old", {"model.safetensors": b"old" * 999}), "documents", Store(stores / "0")).revision
    folder = make_model("new", {"model.safetensors": b"newer" * 999})
    (tried,) = map(int, output(start("killed", stores, "documents", folder)))
    assert tried > 30
    tags = set()
    for number in range(1, tried + 1):
        store = Store(stores / str(number))
        assert_intact(store)
        tags.add(store.resolve("documents").revision)
        new = publish(folder, "documents", store).revision
        assert store.resolve("documents") == new
    assert tags == {old.revision, new.revision}


def test_concurrent_publishes_lose_neither_files_nor_tag_moves(
    make_model: MakeModel, store: Store, tmp_path: Path
) -> None:
    shared = make_model("shared")
    own = [make_model(f"own{number}", {"model.safetensors": bytes([number]) * 5000}) for number in range(6)]
    processes = [
        start("publish", store.root, "documents", tmp_path / "start", *own[2 * number : 2 * number + 2], shared)
        for number in range(3)
    ]
    (tmp_path / "start").touch()
    printed = [output(process) for process in processes]
    assert len({lines[-1] for lines in printed}) == 1
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert {tag.revision, *tag.earlier} == {revision for lines in printed for revision in lines}
    assert verify_store(store).intact
    assert list(store.layout.temporary.iterdir()) == []


def test_concurrent_moves_of_one_tag_are_all_recorded(store: Store, tmp_path: Path) -> None:
    revisions = [f"sha256:{number:064x}" for number in range(16)]
    processes = [
        start("move", store.root, "documents", tmp_path / "start", *revisions[number::4]) for number in range(4)
    ]
    (tmp_path / "start").touch()
    for process in processes:
        output(process)
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert sorted((tag.revision, *tag.earlier)) == revisions


def test_a_disk_that_fills_up_leaves_the_store_as_it_was(make_model: MakeModel, store: Store) -> None:
    old = publish(make_model("old"), "documents", store).revision
    blobs = {path.name for path in store.layout.blobs.iterdir()}
    folder = make_model("new", {"model.safetensors": b"larger" * 50_000})
    (printed,) = output(start("limited", store.root, "documents", 100_000, folder))
    assert printed == "StoreFull"
    assert {path.name for path in store.layout.blobs.iterdir()} == blobs
    assert list(store.layout.temporary.iterdir()) == []
    assert store.resolve("documents") == old


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
