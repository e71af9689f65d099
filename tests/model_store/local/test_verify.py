"""Re-hashing a revision and the whole store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model_store.errors import CorruptFile
from model_store.local.store import Revision, Store
from model_store.local.verify import Outcome, verify_revision, verify_store
from model_store.reference import hex_digits
from model_store.transfer.publish import publish

MakeModel = Callable[..., Path]


@pytest.fixture
def published(make_model: MakeModel, store: Store) -> Revision:
    return publish(make_model(), "documents", store).revision


def rot(path: Path) -> None:
    """Change a byte behind everybody's back: size and modification time stay."""
    before = path.stat()
    path.chmod(0o644)
    path.write_bytes(b"!" + path.read_bytes()[1:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_sound_store_is_read_once_and_reported_file_by_file(store: Store, published: Revision) -> None:
    read: list[int] = []
    report = verify_store(store, read.append)
    assert report.sound
    assert sum(read) == published.manifest.size_bytes
    assert len(report.having(Outcome.OK)) == 1 + len(published.manifest.files) + 1
    assert verify_revision(published).sound


def test_a_rotten_blob_is_named_with_both_digests_and_no_longer_trusted(store: Store, published: Revision) -> None:
    digest = next(file.sha256 for file in published.manifest.files if file.path == "model.safetensors")
    rot(store.layout.blob(digest))
    assert store.resolve("documents") == published
    (corrupt,) = verify_store(store).having(Outcome.CORRUPT)
    assert (corrupt.path, corrupt.wanted) == (store.layout.blob(digest), digest)
    assert corrupt.found is not None
    assert corrupt.found in corrupt.detail
    assert [item.path.name for item in verify_revision(published).having(Outcome.CORRUPT)] == ["model.safetensors"]
    with pytest.raises(CorruptFile):
        store.resolve("documents")


def test_a_rotten_copy_in_a_model_folder_is_found(store: Store, published: Revision) -> None:
    config = published.folder / "config.json"
    data = config.read_bytes()
    config.unlink()
    config.write_bytes(data)
    rot(config)
    assert [item.path for item in verify_store(store).having(Outcome.CORRUPT)] == [config]


def test_what_is_missing_is_named(store: Store, published: Revision) -> None:
    blob = store.layout.blob(published.manifest.files[0].sha256)
    blob.unlink()
    assert [item.path for item in verify_store(store).having(Outcome.MISSING)] == [blob]


def test_a_damaged_manifest_and_tags_that_lead_nowhere_are_named(store: Store, published: Revision) -> None:
    path = store.layout.manifest(hex_digits(published.revision))
    path.write_bytes(b"{}")
    assert [item.path for item in verify_store(store).having(Outcome.CORRUPT)] == [path]
    path.unlink()
    tag = store.layout.tag("documents", "stable")
    assert [item.path for item in verify_store(store).having(Outcome.MISSING)] == [tag]
    tag.write_bytes(b"{")
    assert [item.path for item in verify_store(store).having(Outcome.CORRUPT)] == [tag]


def test_an_empty_store_is_sound(store: Store) -> None:
    assert verify_store(store).checked == ()
