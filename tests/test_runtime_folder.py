"""The runtime folder: private, apart from uploads, and gone at the end of its service, however that came."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from service import runtime_folder as module
from service.runtime_folder import LOCK, NAME, runtime_folder

HOLDER = """
import sys, time
from pathlib import Path
from service import runtime_folder as module
module.MEMORY_FOLDERS = (Path(sys.argv[1]),)
module._is_apart = lambda folder: True
with module.runtime_folder(None) as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for /dev/shm."""
    monkeypatch.setattr(module, "MEMORY_FOLDERS", (tmp_path,))
    monkeypatch.setattr(module, "_is_apart", lambda folder: folder == tmp_path)
    return tmp_path


def test_a_folder_that_is_named_is_made_private_and_kept(tmp_path: Path) -> None:
    with runtime_folder(tmp_path / "a" / "run") as folder:
        assert folder == tmp_path / "a" / "run"
        assert [mode(folder), mode(folder / "metrics")] == [0o700, 0o700]
    assert (folder / "metrics").is_dir()


def test_a_folder_that_nobody_named_is_private_and_removed(memory: Path) -> None:
    with runtime_folder(None) as folder:
        assert folder.parent == memory
        assert mode(folder) == 0o700
        assert (folder / "metrics").is_dir()
    assert list(memory.iterdir()) == []


def test_what_a_killed_service_left_is_removed_by_the_next(memory: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(memory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        other = Path(holder.stdout.readline().strip())
        with runtime_folder(None):
            assert (other / LOCK).exists()
        holder.kill()
        holder.wait()
        assert other.exists()
    with runtime_folder(None) as folder:
        assert [folder] == list(memory.glob(f"{NAME}*"))


def test_folders_of_others_and_links_are_left_alone(memory: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / LOCK).touch()
    (memory / f"{NAME}link").symlink_to(elsewhere)
    (memory / f"{NAME}without-lock").mkdir()
    with runtime_folder(None):
        pass
    assert (elsewhere / LOCK).exists()
    assert (memory / f"{NAME}without-lock").exists()


def test_no_folder_is_apart_that_shares_the_disk_of_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert not module._is_apart(tmp_path)
    assert not module._is_apart(tmp_path / "missing")
    monkeypatch.setattr(module, "NEEDED_BYTES", 1 << 80)
    assert not any(map(module._is_apart, module.MEMORY_FOLDERS))
