"""The folder of a revision: complete, of links or copies, rebuilt when it is damaged, and hashed again."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from model_store.errors import CorruptFile, MissingFile
from model_store.local.snapshots import ensure_folder, names_in
from model_store.local.store import Revision, Store
from model_store.local.verify import CheckOutcome, verify_revision, verify_store
from model_store.reference import hex_digits
from tests.support.stores import file_of


def ensured(store: Store, revision: Revision) -> Path:
    return ensure_folder(store.layout, hex_digits(revision.revision), revision.manifest)


def test_a_folder_has_exactly_the_manifests_files_as_links(store: Store, published: Revision) -> None:
    assert names_in(published.folder) == {file.path for file in published.manifest.files}
    assert all(path.stat().st_nlink == 2 for path in published.folder.iterdir())


def test_a_complete_folder_is_not_rebuilt(store: Store, published: Revision) -> None:
    inode = published.folder.stat().st_ino
    assert ensured(store, published).stat().st_ino == inode


@pytest.mark.parametrize("damage", ["folder removed", "file removed", "file replaced", "file added"])
def test_a_damaged_folder_is_rebuilt_from_blobs(store: Store, published: Revision, damage: str) -> None:
    weights = published.folder / "model.safetensors"
    data = weights.read_bytes()
    if damage == "folder removed":
        shutil.rmtree(published.folder)
    elif damage == "file added":
        (published.folder / "modeling.py").write_text("import os")
    else:
        weights.unlink()
        if damage == "file replaced":
            weights.write_bytes(b"?" * len(data))
    assert ensured(store, published) == published.folder
    assert weights.read_bytes() == data
    assert names_in(published.folder) == {file.path for file in published.manifest.files}
    assert list(store.layout.temporary.iterdir()) == []


def test_a_folder_of_copies_is_complete_too(store: Store, published: Revision) -> None:
    shutil.rmtree(published.folder)
    published.folder.mkdir()
    for file in published.manifest.files:
        shutil.copy2(store.layout.blob(file.sha256), published.folder / file.path)
    inode = published.folder.stat().st_ino
    assert ensured(store, published).stat().st_ino == inode


def test_files_are_copied_if_the_file_system_refuses_links(store: Store, published: Revision) -> None:
    shutil.rmtree(published.folder)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        if Path(elsewhere).stat().st_dev == store.root.stat().st_dev:
            pytest.skip("there is no second file system here")
        shutil.copytree(store.layout.blobs, Path(elsewhere) / "sha256")
        shutil.rmtree(store.layout.blobs)
        store.layout.blobs.symlink_to(Path(elsewhere) / "sha256")
        folder = ensured(store, published)
        assert all(path.stat().st_nlink == 1 for path in folder.iterdir())
        assert ensured(store, published).stat().st_ino == folder.stat().st_ino


def test_a_missing_or_corrupt_blob_gives_no_folder(store: Store, published: Revision) -> None:
    blob = store.layout.blob(file_of(published).sha256)
    blob.chmod(0o644)
    blob.write_bytes(b"?" * blob.stat().st_size)
    with pytest.raises(CorruptFile):
        ensured(store, published)
    blob.unlink()
    with pytest.raises(MissingFile):
        ensured(store, published)


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
