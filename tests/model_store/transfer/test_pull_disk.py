"""Pulling onto a disk that is too small, fills up, or cannot be written to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model_store.errors import StoreFull, StoreUnwritable
from model_store.local.store import Store
from model_store.local.verify import verify_store
from model_store.remote.folder import FolderRemote
from model_store.transfer.pull import pull
from tests.support.stores import SHARDS, Upload, read_only

ROOT = Path(__file__).parents[3]
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
"""For processes that cannot write what `make coverage` wants of them either."""


def test_a_disk_that_is_too_small_is_an_error_before_any_download(
    tmp_path: Path, remote: FolderRemote, upload: Upload
) -> None:
    upload()
    store = Store(tmp_path / "store", free_bytes=lambda _: 50_000)
    with pytest.raises(StoreFull):
        pull("documents", store, remote)
    assert not store.layout.blobs.exists()


def test_an_untagged_revision_is_evicted_and_a_tagged_one_is_not(
    store: Store, tmp_path: Path, remote: FolderRemote, upload: Upload
) -> None:
    first, _ = upload()
    pull("documents", store, remote)
    second, _ = upload("second", {name: data[:-1] for name, data in SHARDS.items()})
    pull("documents", store, remote)
    upload("third", {name: data[:-2] for name, data in SHARDS.items()})
    tight = Store(store.root, free_bytes=lambda _: 16 * 2**20 + 20_000)
    pulled = pull("documents", tight, remote)
    assert pulled.evicted == (first.revision,)
    assert set(store.revisions()) == {second.revision, pulled.revision.revision}
    assert verify_store(store).intact


def test_a_complete_revision_is_pulled_into_a_read_only_store(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    revision, _ = upload()
    store = Store(public_folder / "store")
    pull("documents", store, remote)
    with read_only(public_folder):
        pulled = pull(f"documents@{revision.revision}", store, remote)
    assert pulled.revision.revision == revision.revision


def test_a_read_only_store_without_the_revision_is_unwritable(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    upload()
    store = Store(public_folder / "store")
    with read_only(public_folder), pytest.raises(StoreUnwritable):
        pull("documents", store, remote)


def test_a_disk_that_fills_up_is_one_line_and_exit_code_1(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    code = (
        "import resource, sys; from pathlib import Path; from service.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["models", "pull", "documents", "--store", str(store.root), "--remote", remote.url]
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, env=UNMEASURED, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("gleaner: The disk of the model store")
    assert ended.stderr.count("\n") == 1
    assert store.revisions() == ()
    assert pull("documents", store, remote).revision.revision == revision.revision


def test_a_read_only_store_is_one_line_and_exit_code_1(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    upload()
    (public_folder / "store").mkdir()
    code = (
        "import os, sys, service.cli, service.commands.models.transfer\n"
        "if os.geteuid() == 0: os.seteuid(65534)  # Root may write anywhere.\n"
        "sys.exit(service.cli.main(sys.argv[1:]))"
    )
    arguments = ["models", "pull", "documents", "--store", str(public_folder / "store"), "--remote", remote.url]
    with read_only(public_folder):
        if os.getuid() == 0:
            os.seteuid(0)  # The child becomes nobody by itself, after its imports.
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, env=UNMEASURED, capture_output=True, text=True
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("gleaner: The model store")
    assert "cannot be written to: [Errno 13]" in ended.stderr
    assert ended.stderr.count("\n") == 1
