"""Publishing in processes that are killed, run concurrently, or find the disk full.

At every moment a file under its final name is complete, a manifest's blobs are stored, and a tag resolves.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
