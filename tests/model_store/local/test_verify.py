"""Re-hashing a revision and the whole store."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from model_store.errors import CorruptFile
from model_store.local.store import Revision, Store
from model_store.local.verify import CheckOutcome, verify_revision, verify_store
from model_store.reference import hex_digits
from tests.support.stores import file_of


def corrupt_silently(path: Path) -> None:
    """Change a byte and keep size and modification time, as a disk error does."""
    before = path.stat()
    path.chmod(0o644)
    path.write_bytes(b"!" + path.read_bytes()[1:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_intact_store_is_read_once_and_reported_by_file(store: Store, published: Revision) -> None:
    read: list[int] = []
    report = verify_store(store, read.append)
    assert report.intact
    assert sum(read) == published.manifest.size_bytes
    assert len(report.with_outcome(CheckOutcome.OK)) == 1 + len(published.manifest.files) + 1
    assert verify_revision(published).intact


def test_a_corrupt_blob_is_reported_and_its_receipt_is_void(store: Store, published: Revision) -> None:
    digest = file_of(published).sha256
    corrupt_silently(store.layout.blob(digest))
    assert store.resolve("documents") == published
    (corrupt,) = verify_store(store).with_outcome(CheckOutcome.CORRUPT)
    assert (corrupt.path, corrupt.wanted) == (store.layout.blob(digest), digest)
    assert corrupt.found == hashlib.sha256(store.layout.blob(digest).read_bytes()).hexdigest()
    assert [item.path.name for item in verify_revision(published).with_outcome(CheckOutcome.CORRUPT)] == [
        "model.safetensors"
    ]
    with pytest.raises(CorruptFile):
        store.resolve("documents")


def test_a_corrupt_copy_in_a_model_folder_is_found(store: Store, published: Revision) -> None:
    config = published.folder / "config.json"
    data = config.read_bytes()
    config.unlink()
    config.write_bytes(data)
    corrupt_silently(config)
    assert [item.path for item in verify_store(store).with_outcome(CheckOutcome.CORRUPT)] == [config]


def test_a_missing_blob_is_reported(store: Store, published: Revision) -> None:
    blob = store.layout.blob(published.manifest.files[0].sha256)
    blob.unlink()
    assert [item.path for item in verify_store(store).with_outcome(CheckOutcome.MISSING)] == [blob]


def test_damaged_manifests_and_dangling_tags_are_reported(store: Store, published: Revision) -> None:
    path = store.layout.manifest(hex_digits(published.revision))
    path.write_bytes(b"{}")
    assert [item.path for item in verify_store(store).with_outcome(CheckOutcome.CORRUPT)] == [path]
    path.unlink()
    tag = store.layout.tag("documents", "stable")
    assert [item.path for item in verify_store(store).with_outcome(CheckOutcome.MISSING)] == [tag]
    tag.write_bytes(b"{")
    assert [item.path for item in verify_store(store).with_outcome(CheckOutcome.CORRUPT)] == [tag]
