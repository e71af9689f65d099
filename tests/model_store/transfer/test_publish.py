"""Publishing a folder into a local store, and pushing it: only missing blobs, the tag last, a damaged manifest anew."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from model_store.errors import RefusedFolder, RemoteUnavailable, SourceChanged, StoreFull
from model_store.fileio import OnBytes
from model_store.local.store import Revision, Store
from model_store.local.tags import read_tag
from model_store.manifest import GoldenEntity, GoldenExample, Provenance, encode_manifest
from model_store.reference import hex_digits
from model_store.remote.base import blob_key, manifest_key
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import read_remote_tag
from model_store.transfer.publish import publish
from model_store.transfer.push import PushResult, push
from tests.support.stores import MakeModel, file_of


def snapshot(root: Path) -> dict[str, tuple[int, int, int]]:
    """Every path below `root` with inode, size and modification time; unchanged if nothing was written."""
    found = [Path(place) / name for place, folders, names in os.walk(root) for name in folders + names]
    return {str(path): (path.stat().st_ino, path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def blob_digests(store: Store) -> set[str]:
    return {path.name for path in store.layout.blobs.iterdir()}


def test_a_published_model_resolves_to_a_folder_with_the_same_bytes(make_model: MakeModel, store: Store) -> None:
    source = make_model()
    done = publish(source, "documents", store)
    revision = store.resolve("documents")
    assert revision == done.revision
    assert done.tag_moved
    assert {path.name: path.read_bytes() for path in revision.folder.iterdir()} == {
        path.name: path.read_bytes() for path in source.iterdir()
    }
    assert revision.manifest.labels == ("O", "B-NAME", "I-NAME")
    assert store.resolve(f"documents@{revision.revision}").folder == revision.folder


def test_every_blob_is_named_by_its_digest_and_the_folder_links_to_it(make_model: MakeModel, store: Store) -> None:
    publish(make_model(), "documents", store)
    for path in store.layout.blobs.iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        assert path.stat().st_nlink == 2
    assert list(store.layout.temporary.iterdir()) == []


def test_publishing_the_same_folder_again_writes_nothing(make_model: MakeModel, store: Store) -> None:
    source = make_model()
    first = publish(source, "documents", store)
    before = snapshot(store.root)
    again = publish(source, "documents", store)
    assert snapshot(store.root) == before
    assert again.revision.revision == first.revision.revision
    assert (again.copied_bytes, again.tag_moved) == (0, False)


def test_a_second_revision_stores_only_the_shard_that_changed(make_model: MakeModel, store: Store) -> None:
    names = [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
    first = publish(make_model("a", {name: name.encode() * 500 for name in names}), "documents", store)
    changed = {name: name.encode() * 500 for name in names} | {names[1]: b"X" * len(names[1]) * 500}
    before = blob_digests(store)
    second = publish(make_model("b", changed), "documents", store)
    assert len(blob_digests(store) - before) == 1
    assert second.copied_bytes == (second.revision.folder / names[1]).stat().st_size
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert (tag.revision, tag.earlier) == (second.revision.revision, (first.revision.revision,))


def test_a_publish_elsewhere_gives_the_same_revision(make_model: MakeModel, tmp_path: Path) -> None:
    here = publish(make_model("a"), "documents", Store(tmp_path / "here"), provenance=Provenance(commit="1234"))
    there = publish(make_model("b"), "documents", Store(tmp_path / "there"), provenance=Provenance(commit="1234"))
    assert here.revision.revision == there.revision.revision


def test_provenance_and_golden_examples_are_in_the_manifest(make_model: MakeModel, store: Store) -> None:
    golden = (GoldenExample("Ada writes", (GoldenEntity("NAME", 0, 3),)),)
    origin = Provenance(base_model="bert-base-cased", data="made up", commit="1234")
    publish(make_model(), "documents", store, tag="candidate", provenance=origin, golden=golden)
    manifest = store.resolve("documents@candidate").manifest
    assert (manifest.provenance, manifest.golden) == (origin, golden)


def test_a_damaged_blob_is_replaced_by_the_next_publish(make_model: MakeModel, store: Store) -> None:
    source = make_model()
    folder = publish(source, "documents", store).revision.folder
    weights = folder / "model.safetensors"
    weights.chmod(0o644)
    weights.write_bytes(b"?" * weights.stat().st_size)
    done = publish(source, "documents", store)
    assert done.copied_bytes == (source / "model.safetensors").stat().st_size
    assert (store.resolve("documents").folder / "model.safetensors").read_bytes() == (
        source / "model.safetensors"
    ).read_bytes()


def test_a_disk_without_space_is_an_error_before_any_write(make_model: MakeModel, tmp_path: Path) -> None:
    store = Store(tmp_path / "store", free_bytes=lambda _folder: 1000)
    with pytest.raises(StoreFull, match="1,000"):
        publish(make_model(), "documents", store)
    assert not store.layout.blobs.exists()
    assert not store.layout.tags.exists()


def test_a_file_that_changes_during_the_publish_stops_it(make_model: MakeModel, store: Store) -> None:
    source = make_model()

    def change(_done: int, _total: int) -> None:
        (source / "config.json").write_text("{}")

    with pytest.raises(SourceChanged, match=r"config\.json"):
        publish(source, "documents", store, progress=change)
    assert not store.layout.manifests.exists()
    assert read_tag(store.layout, "documents", "stable") is None


def test_a_refused_folder_makes_no_store(make_model: MakeModel, store: Store) -> None:
    source = make_model()
    (source / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(RefusedFolder, match=r"pytorch_model\.bin"):
        publish(source, "documents", store)
    assert not store.root.exists()


def pushed(published: Revision, store: Store, remote: FolderRemote) -> PushResult:
    return push(published, store, remote, tag="stable", now_seconds=lambda: 5.0)


def test_all_blobs_are_uploaded_and_the_tag_points_to_the_revision(
    published: Revision, store: Store, remote: FolderRemote
) -> None:
    seen: list[tuple[int, int]] = []
    done = push(published, store, remote, tag="stable", progress=lambda done, total: seen.append((done, total)))
    assert (done.uploaded_bytes, done.kept_bytes, done.tag_moved) == (published.manifest.size_bytes, 0, True)
    assert seen[-1] == (done.uploaded_bytes, done.uploaded_bytes)
    for file in published.manifest.files:
        assert remote.read(blob_key(file.sha256)) == store.layout.blob(file.sha256).read_bytes()
    assert read_remote_tag(remote, "documents", "stable") == done.tag


def test_a_second_push_uploads_nothing_and_moves_no_tag(
    published: Revision, store: Store, remote: FolderRemote
) -> None:
    first, again = pushed(published, store, remote), pushed(published, store, remote)
    assert (again.uploaded_bytes, again.kept_bytes) == (0, published.manifest.size_bytes)
    assert (again.tag_moved, again.tag) == (False, first.tag)


def test_a_truncated_object_is_uploaded_again(published: Revision, store: Store, remote: FolderRemote) -> None:
    pushed(published, store, remote)
    weights = file_of(published)
    (remote.root / blob_key(weights.sha256)).write_bytes(b"cut off")
    assert pushed(published, store, remote).uploaded_bytes == weights.size_bytes


def test_a_damaged_manifest_is_replaced(published: Revision, store: Store, remote: FolderRemote) -> None:
    pushed(published, store, remote)
    key = manifest_key(hex_digits(published.revision))
    (remote.root / key).write_bytes(b"{}")
    pushed(published, store, remote)
    assert remote.read(key) == encode_manifest(published.manifest)


def test_a_failed_upload_moves_no_tag_and_writes_no_manifest(
    published: Revision, store: Store, remote: FolderRemote
) -> None:
    class Failing(FolderRemote):
        def upload(self, key: str, source: Path, on_bytes: OnBytes) -> None:
            raise RemoteUnavailable("not now.")

    with pytest.raises(RemoteUnavailable):
        pushed(published, store, Failing(remote.root))
    remote.root.mkdir(exist_ok=True)
    assert list(remote.stats("")) == []
