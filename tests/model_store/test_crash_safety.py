"""Publishing that is killed, held up or done twice at once, in real processes.

What must hold at every moment: a file under a final name is whole, a manifest's blobs are there, a tag resolves.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.local.verify import verify_store
from model_store.transfer.publish import publish

MakeModel = Callable[..., Path]
ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "publish_process.py"


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> list[str]:
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return printed.splitlines()


def assert_whole(store: Store) -> None:
    for path in store.layout.blobs.iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    for revision in store.revisions():
        for file in store.manifest(revision).files:
            assert store.layout.blob(file.sha256).stat().st_size == file.size_bytes


def test_a_publish_killed_at_any_moment_leaves_the_store_whole_and_is_finished_by_the_next(
    make_model: MakeModel, tmp_path: Path
) -> None:
    stores = tmp_path / "stores"
    old = publish(make_model("old", {"model.safetensors": b"old" * 999}), "documents", Store(stores / "0")).revision
    folder = make_model("new", {"model.safetensors": b"newer" * 999})
    (tried,) = map(int, output(start("killed", stores, "documents", folder)))
    assert tried > 30
    tags = set()
    for number in range(1, tried + 1):
        store = Store(stores / str(number))
        assert_whole(store)
        tags.add(store.resolve("documents").revision)
        new = publish(folder, "documents", store).revision
        assert store.resolve("documents") == new
    assert tags == {old.revision, new.revision}


def test_processes_that_publish_at_once_lose_neither_files_nor_tag_moves(
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
    assert verify_store(store).sound
    assert list(store.layout.temporary.iterdir()) == []


def test_processes_that_move_one_tag_at_once_lose_no_move(store: Store, tmp_path: Path) -> None:
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


def test_a_disk_that_fills_up_on_the_way_leaves_nothing_behind(make_model: MakeModel, store: Store) -> None:
    old = publish(make_model("old"), "documents", store).revision
    blobs = {path.name for path in store.layout.blobs.iterdir()}
    folder = make_model("new", {"model.safetensors": b"larger" * 50_000})
    (printed,) = output(start("limited", store.root, "documents", 100_000, folder))
    assert printed.startswith("StoreFull The disk of the model store")
    assert {path.name for path in store.layout.blobs.iterdir()} == blobs
    assert list(store.layout.temporary.iterdir()) == []
    assert store.resolve("documents") == old
