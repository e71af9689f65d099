"""From a reference to a verified folder, and what happens when the store is not what it says."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model_store.errors import (
    CorruptFile,
    InvalidManifest,
    InvalidTag,
    MissingFile,
    StoreUnwritable,
    UnknownModel,
)
from model_store.local.receipts import SEALED_MTIME_NS
from model_store.local.store import Revision, Store
from model_store.reference import hex_digits
from model_store.transfer.publish import publish
from tests.model_store.conftest import read_only

MakeModel = Callable[..., Path]


@pytest.fixture
def published(make_model: MakeModel, store: Store) -> Revision:
    return publish(make_model(), "documents", store).revision


def weights_blob(store: Store, revision: Revision) -> Path:
    digest = next(file.sha256 for file in revision.manifest.files if file.path == "model.safetensors")
    return store.layout.blob(digest)


def flip_one_byte(path: Path, *, keep_time: bool = False) -> None:
    before = path.stat()
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(before.st_size // 2)
        byte = file.read(1)
        file.seek(before.st_size // 2)
        file.write(bytes([byte[0] ^ 1]))
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_unknown_model_is_answered_with_what_is_there(store: Store, published: Revision) -> None:
    for reference in ("invoices", "documents@candidate", "documents@sha256:" + "0" * 64):
        with pytest.raises(UnknownModel, match="documents@stable") as unknown:
            store.resolve(reference)
        assert unknown.value.available == ("documents@stable",)


def test_a_revision_belongs_to_its_own_name_only(store: Store, published: Revision) -> None:
    with pytest.raises(UnknownModel):
        store.resolve(f"invoices@{published.revision}")


def test_an_empty_store_says_how_to_fill_it(store: Store) -> None:
    with pytest.raises(UnknownModel, match="gleaner models publish"):
        store.resolve("documents")
    assert not store.root.exists()


def test_a_start_reads_no_blob_that_its_receipt_vouches_for(store: Store, published: Revision) -> None:
    """Shown by a change that only reading can find: it keeps size and time. `verify` is there for such."""
    flip_one_byte(weights_blob(store, published), keep_time=True)
    assert store.resolve("documents") == published


def test_a_changed_byte_of_the_same_size_is_found_and_named(store: Store, published: Revision) -> None:
    blob = weights_blob(store, published)
    flip_one_byte(blob)
    with pytest.raises(CorruptFile) as corrupt:
        store.resolve("documents")
    assert corrupt.value.wanted == blob.name
    assert corrupt.value.found != blob.name
    assert corrupt.value.found in corrupt.value.detail


def test_a_touched_file_is_hashed_once_and_then_vouched_for_again(store: Store, published: Revision) -> None:
    blob = weights_blob(store, published)
    os.utime(blob)
    assert store.resolve("documents") == published
    flip_one_byte(blob, keep_time=True)
    assert store.resolve("documents") == published


def test_lost_or_torn_receipts_only_cost_a_hash(store: Store, published: Revision) -> None:
    for receipt in (store.root / "receipts" / "blobs").iterdir():
        receipt.write_bytes(b'{"seals":')
    assert store.resolve("documents") == published


def test_a_missing_blob_is_named(store: Store, published: Revision) -> None:
    blob = weights_blob(store, published)
    blob.unlink()
    with pytest.raises(MissingFile, match=blob.name):
        store.resolve("documents")


def test_a_link_in_place_of_a_blob_is_not_followed(store: Store, published: Revision, tmp_path: Path) -> None:
    blob = weights_blob(store, published)
    shutil.copy(blob, tmp_path / "elsewhere")
    blob.unlink()
    blob.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MissingFile):
        store.resolve("documents")


@pytest.mark.parametrize("damage", ["gone", "file gone", "file replaced", "file added"])
def test_a_damaged_model_folder_is_built_again_from_blobs(store: Store, published: Revision, damage: str) -> None:
    weights = published.folder / "model.safetensors"
    whole = weights.read_bytes()
    if damage == "gone":
        shutil.rmtree(published.folder)
    elif damage == "file added":
        (published.folder / "modeling.py").write_text("import os")
    else:
        weights.unlink()
        if damage == "file replaced":
            weights.write_bytes(b"?" * len(whole))
    assert store.resolve("documents") == published
    assert weights.read_bytes() == whole
    assert {path.name for path in published.folder.iterdir()} == {file.path for file in published.manifest.files}
    assert list(store.layout.temporary.iterdir()) == []


def test_a_folder_of_copies_serves_where_links_are_refused(store: Store, published: Revision) -> None:
    shutil.rmtree(published.folder)
    shutil.copytree(store.layout.blobs, store.root / "copies")
    published.folder.mkdir()
    for file in published.manifest.files:
        shutil.copy2(store.layout.blob(file.sha256), published.folder / file.path)
    inode = published.folder.stat().st_ino
    assert store.resolve("documents") == published
    assert published.folder.stat().st_ino == inode


def test_files_are_copied_where_the_file_system_refuses_links(store: Store, published: Revision) -> None:
    shutil.rmtree(published.folder)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        if Path(elsewhere).stat().st_dev == store.root.stat().st_dev:
            pytest.skip("there is no second file system here")
        shutil.copytree(store.layout.blobs, Path(elsewhere) / "sha256")
        shutil.rmtree(store.layout.blobs)
        store.layout.blobs.symlink_to(Path(elsewhere) / "sha256")
        assert store.resolve("documents") == published
        inode = published.folder.stat().st_ino
        assert all(path.stat().st_nlink == 1 for path in published.folder.iterdir())
        assert store.resolve("documents").folder.stat().st_ino == inode


def test_a_damaged_manifest_is_refused(store: Store, published: Revision) -> None:
    path = store.layout.manifest(hex_digits(published.revision))
    path.write_bytes(path.read_bytes().replace(b"B-NAME", b"B-GAME"))
    with pytest.raises(InvalidManifest, match="damaged"):
        store.resolve("documents")


def test_a_tag_that_points_to_nothing_is_explained(store: Store, published: Revision) -> None:
    store.layout.manifest(hex_digits(published.revision)).unlink()
    with pytest.raises(MissingFile, match="cannot be read"):
        store.resolve("documents")


def test_a_torn_tag_is_explained_and_mended_by_publishing(store: Store, published: Revision, tmp_path: Path) -> None:
    store.layout.tag("documents", "stable").write_bytes(b'{"revision"')
    with pytest.raises(InvalidTag, match="Publish it again"):
        store.resolve("documents")
    publish(tmp_path / "model", "documents", store)
    assert store.resolve("documents") == published


def test_only_stale_temporary_files_are_swept(store: Store, published: Revision) -> None:
    left = store.layout.temporary / "1-left"
    left.write_bytes(b"half")
    os.utime(left, ns=(SEALED_MTIME_NS, SEALED_MTIME_NS))
    (store.layout.temporary / "2-folder").mkdir()
    assert store.sweep() == 0
    assert store.sweep(older_than_seconds=-1) == 2
    assert list(store.layout.temporary.iterdir()) == []


@pytest.fixture
def unprivileged_store(make_model: MakeModel, public_folder: Path) -> Iterator[Store]:
    """A filled store that this process may read and not write."""
    store = Store(public_folder / "store")
    publish(make_model(), "documents", store)
    with read_only(public_folder):
        yield store


def test_a_read_only_store_serves(unprivileged_store: Store) -> None:
    revision = unprivileged_store.resolve("documents")
    assert (revision.folder / "config.json").is_file()


def test_a_read_only_store_says_that_it_is(unprivileged_store: Store) -> None:
    folder = unprivileged_store.resolve("documents").folder
    with pytest.raises(StoreUnwritable, match=r"cannot be written to: .*Permission denied"):
        publish(folder, "documents", unprivileged_store, tag="candidate")
