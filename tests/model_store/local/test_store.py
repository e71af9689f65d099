"""Resolving references to verified folders, moving tags, and the errors of a damaged store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_store.errors import (
    CorruptFile,
    InvalidManifest,
    InvalidReference,
    InvalidTag,
    MissingFile,
    StoreUnwritable,
    TagMoved,
    UnknownModel,
)
from model_store.local.blobs import SEALED_MTIME_NS
from model_store.local.layout import Layout
from model_store.local.store import Revision, Store
from model_store.local.tags import change_tag, move_tag, read_tag, set_tag, tag_names
from model_store.reference import Tag, hex_digits
from model_store.transfer.publish import publish
from tests.support.stores import MakeModel, file_of, read_only


def weights_blob(store: Store, revision: Revision) -> Path:
    return store.layout.blob(file_of(revision).sha256)


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


def test_an_unknown_model_lists_the_references_that_exist(store: Store, published: Revision) -> None:
    for reference in ("invoices", "documents@candidate", "documents@sha256:" + "0" * 64):
        with pytest.raises(UnknownModel) as unknown:
            store.resolve(reference)
        assert unknown.value.available == ("documents@stable",)


def test_a_revision_belongs_to_its_own_name_only(store: Store, published: Revision) -> None:
    with pytest.raises(UnknownModel):
        store.resolve(f"invoices@{published.revision}")


def test_a_blob_with_a_valid_receipt_is_not_read(store: Store, published: Revision) -> None:
    """Shown by a change that only reading finds: it keeps size and time. `verify` finds it."""
    flip_one_byte(weights_blob(store, published), keep_time=True)
    assert store.resolve("documents") == published


def test_a_changed_byte_of_the_same_size_is_corrupt(store: Store, published: Revision) -> None:
    blob = weights_blob(store, published)
    flip_one_byte(blob)
    with pytest.raises(CorruptFile) as corrupt:
        store.resolve("documents")
    assert corrupt.value.wanted == blob.name
    assert corrupt.value.found != blob.name
    assert corrupt.value.found in corrupt.value.detail


def test_a_touched_blob_is_hashed_once_and_gets_a_new_receipt(store: Store, published: Revision) -> None:
    blob = weights_blob(store, published)
    os.utime(blob)
    assert store.resolve("documents") == published
    flip_one_byte(blob, keep_time=True)
    assert store.resolve("documents") == published


def test_unreadable_receipts_are_replaced_by_hashing(store: Store, published: Revision) -> None:
    for receipt in (store.root / "receipts" / "blobs").iterdir():
        receipt.write_bytes(b'{"seals":')
    assert store.resolve("documents") == published


def test_a_missing_blob_is_an_error_that_names_it(store: Store, published: Revision) -> None:
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


def test_a_damaged_manifest_is_refused(store: Store, published: Revision) -> None:
    path = store.layout.manifest(hex_digits(published.revision))
    path.write_bytes(path.read_bytes().replace(b"B-NAME", b"B-GAME"))
    with pytest.raises(InvalidManifest):
        store.resolve("documents")


def test_a_tag_to_a_missing_revision_is_an_error(store: Store, published: Revision) -> None:
    store.layout.manifest(hex_digits(published.revision)).unlink()
    with pytest.raises(MissingFile):
        store.resolve("documents")


def test_an_unreadable_tag_is_replaced_by_publishing(store: Store, published: Revision, tmp_path: Path) -> None:
    store.layout.tag("documents", "stable").write_bytes(b'{"revision"')
    with pytest.raises(InvalidTag):
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
    """A store with a model that this process may read and not write."""
    store = Store(public_folder / "store")
    publish(make_model(), "documents", store)
    with read_only(public_folder):
        yield store


def test_a_read_only_store_serves(unprivileged_store: Store) -> None:
    revision = unprivileged_store.resolve("documents")
    assert (revision.folder / "config.json").is_file()


def test_publishing_into_a_read_only_store_is_unwritable(unprivileged_store: Store) -> None:
    folder = unprivileged_store.resolve("documents").folder
    with pytest.raises(StoreUnwritable):
        publish(folder, "documents", unprivileged_store, tag="candidate")


def revision(number: int) -> str:
    return f"sha256:{number:064x}"


def test_a_tag_that_points_there_already_is_not_written(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert move_tag(layout, "documents", "stable", revision(1))
    before = read_tag(layout, "documents", "stable")
    assert not move_tag(layout, "documents", "stable", revision(1))
    assert read_tag(layout, "documents", "stable") == before


def test_a_change_sees_the_tag_as_it_is_and_writes_nothing_if_it_raises(tmp_path: Path) -> None:
    layout, old, new = Layout(tmp_path), Tag(revision(1), 1.0), Tag(revision(2), 2.0)
    set_tag(layout, "documents", "stable", old)
    seen: list[Tag | None] = []

    def change(found: Tag | None) -> Tag:
        seen.append(found)
        if found != old:
            raise TagMoved("moved")
        return new

    assert change_tag(layout, "documents", "stable", change) == (new, True)
    with pytest.raises(TagMoved):
        change_tag(layout, "documents", "stable", change)
    assert seen == [old, new]
    assert read_tag(layout, "documents", "stable") == new


def test_an_unreadable_tag_is_an_error_until_it_moves(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.tag("documents", "stable").parent.mkdir(parents=True)
    layout.tag("documents", "stable").write_bytes(b"{")
    with pytest.raises(InvalidTag):
        read_tag(layout, "documents", "stable")
    assert move_tag(layout, "documents", "stable", revision(1))


def test_names_that_leave_the_store_are_refused(tmp_path: Path) -> None:
    for name, tag in (("..", "stable"), ("documents", "../../stable")):
        with pytest.raises(InvalidReference):
            read_tag(Layout(tmp_path), name, tag)


def test_tags_are_listed_and_other_files_skipped(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert list(tag_names(layout)) == []
    move_tag(layout, "documents", "stable", revision(1))
    move_tag(layout, "documents", "candidate", revision(1))
    (layout.tags / "documents" / ".DS_Store").write_bytes(b"")
    (layout.tags / "stray").write_bytes(b"")
    assert list(tag_names(layout)) == [("documents", "candidate"), ("documents", "stable")]
