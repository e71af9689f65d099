"""What is served is not evicted, and a lock dies with its process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from model_store.local.in_use import in_use, is_in_use, last_used_seconds
from model_store.local.layout import Layout
from tests.model_store.conftest import read_only

REVISION = "sha256:" + "1" * 64
HOLD = """
import sys
from pathlib import Path
from model_store.local.in_use import in_use
from model_store.local.layout import Layout
with in_use(Layout(Path(sys.argv[1])), sys.argv[2]):
    print(1, flush=True)
    sys.stdin.read()
"""
ROOT = Path(__file__).parents[3]


def test_a_revision_is_in_use_as_long_as_anybody_says_so(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert last_used_seconds(layout, REVISION) == 0.0
    with in_use(layout, REVISION):
        with in_use(layout, REVISION):
            assert is_in_use(layout, REVISION)
        assert is_in_use(layout, REVISION)
    assert not is_in_use(layout, REVISION)
    assert last_used_seconds(layout, REVISION) > 0.0


def test_a_process_that_dies_uses_nothing_any_more(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path), REVISION]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    assert is_in_use(Layout(tmp_path), REVISION)
    process.kill()
    process.communicate()
    assert not is_in_use(Layout(tmp_path), REVISION)


def test_a_store_that_cannot_be_written_to_needs_no_lock(public_folder: Path) -> None:
    with read_only(public_folder), in_use(Layout(public_folder), REVISION):
        pass
