"""Locks between processes; flock tells two open files apart even within one process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from model_store.errors import StoreBusy, StoreUnwritable
from model_store.local import locks
from model_store.local.layout import Layout
from tests.support.stores import read_only

REVISION = "sha256:" + "1" * 64
USE = """
import sys
from pathlib import Path
from model_store.local.layout import Layout
from model_store.local.locks import in_use
with in_use(Layout(Path(sys.argv[1])), sys.argv[2]):
    print(1, flush=True)
    sys.stdin.read()
"""
ROOT = Path(__file__).parents[3]


def take(layout: Layout, *, shared: bool) -> None:
    with locks.acquire(layout, locks.CONTENTS, shared=shared, timeout_seconds=0.05):
        pass


def test_a_lock_that_is_held_times_out(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with locks.acquire(layout, locks.CONTENTS), pytest.raises(StoreBusy):
        take(layout, shared=True)
    take(layout, shared=False)


def test_a_shared_lock_excludes_only_an_exclusive_one(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with locks.acquire(layout, locks.CONTENTS, shared=True):
        take(layout, shared=True)
        with pytest.raises(StoreBusy):
            take(layout, shared=False)


def test_a_lock_file_that_cannot_be_made_is_unwritable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnwritable):
        take(Layout(tmp_path / "file"), shared=True)


def test_a_revision_is_in_use_until_its_last_user_ends(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert locks.last_used_seconds(layout, REVISION) == 0.0
    with locks.in_use(layout, REVISION):
        with locks.in_use(layout, REVISION):
            assert locks.is_in_use(layout, REVISION)
        assert locks.is_in_use(layout, REVISION)
    assert not locks.is_in_use(layout, REVISION)
    assert locks.last_used_seconds(layout, REVISION) > 0.0


def test_a_killed_process_no_longer_uses_a_revision(tmp_path: Path) -> None:
    command = [sys.executable, "-c", USE, str(tmp_path), REVISION]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    assert locks.is_in_use(Layout(tmp_path), REVISION)
    process.kill()
    process.communicate()
    assert not locks.is_in_use(Layout(tmp_path), REVISION)


def test_a_read_only_store_needs_no_lock_for_use(public_folder: Path) -> None:
    with read_only(public_folder), locks.in_use(Layout(public_folder), REVISION):
        pass
    assert list(public_folder.iterdir()) == []
