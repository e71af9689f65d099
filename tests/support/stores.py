"""Values that the tests of the model store share: shards, quick downloads, read-only folders, intact blobs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model_store.local.store import Revision, Store
from model_store.manifest import File
from model_store.remote.retry import RetryPolicy
from model_store.transfer.download import DownloadOptions
from model_store.transfer.push import PushResult

MakeModel = Callable[..., Path]
Upload = Callable[..., tuple[Revision, PushResult]]
SHARDS = {f"model-{number}.safetensors": bytes([number]) * 20_000 for number in range(4)}
QUICK = DownloadOptions(range_bytes=7_000, retry=RetryPolicy(limit_seconds=0.5, first_wait_seconds=0.01))


@dataclass(slots=True)
class WaitClock:
    """A clock on which time passes by its own waits alone, however busy the machine is; for a `RetryPolicy`."""

    now_seconds: float = 0.0

    def __call__(self) -> float:
        return self.now_seconds

    def sleep(self, seconds: float) -> None:
        self.now_seconds += seconds


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in `folder` may be changed by this process inside the context; root becomes nobody meanwhile."""
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*")) if not path.is_symlink()}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


def file_of(revision: Revision, path: str = "model.safetensors") -> File:
    """The file of this path in the revision's manifest."""
    return next(file for file in revision.manifest.files if file.path == path)


def assert_intact(store: Store) -> None:
    """Every blob has the digest of its name, and every revision with a manifest has all its blobs."""
    for path in store.layout.blobs.iterdir() if store.layout.blobs.exists() else ():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    for revision in store.revisions():
        for file in store.manifest(revision).files:
            assert store.layout.blob(file.sha256).stat().st_size == file.size_bytes
