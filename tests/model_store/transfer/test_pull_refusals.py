"""A remote store that lacks something or lies: what is refused, and that nothing of it gets a name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model_store.errors import CorruptObject, InvalidManifest, MissingFile, RemoteRefused, UnknownModel
from model_store.local.store import Store
from model_store.manifest import File, Manifest, revision_of
from model_store.reference import hex_digits
from model_store.remote.folder import FolderRemote
from model_store.remote.keys import blob_key, manifest_key
from model_store.transfer.pull import sync
from tests.model_store.conftest import BRIEF, Upload
from tests.support.lying_remotes import altered, lie


def test_what_the_remote_store_does_not_have_is_said(store: Store, remote: FolderRemote, upload: Upload) -> None:
    with pytest.raises(RemoteRefused, match="is not there"):
        sync("documents", store, remote)
    upload()
    with pytest.raises(UnknownModel, match="invoices@stable in file:"):
        sync("invoices", store, remote)


def test_a_tag_that_points_to_nothing_is_explained(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    remote.delete(manifest_key(hex_digits(revision.revision)))
    with pytest.raises(MissingFile, match=r"manifest .* of documents is not there"):
        sync("documents", store, remote)
    assert not store.layout.blobs.exists()


def test_a_missing_object_is_named(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    file = revision.manifest.files[-1]
    remote.delete(blob_key(file.sha256))
    with pytest.raises(MissingFile, match=rf"{file.sha256} \({file.path}\) is not there"):
        sync("documents", store, remote)


def test_an_object_with_other_bytes_is_quarantined_and_named(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    file = next(file for file in revision.manifest.files if file.path == "model-3.safetensors")
    path = remote.root / blob_key(file.sha256)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(CorruptObject) as corrupt:
        sync("documents", store, remote, pace=BRIEF)
    assert corrupt.value.wanted == file.sha256
    assert corrupt.value.found in corrupt.value.detail
    assert file.sha256 in corrupt.value.url
    assert not store.layout.blob(file.sha256).exists()
    assert (store.layout.quarantine / file.sha256).read_bytes() == path.read_bytes()
    assert store.revisions() == ()


def renamed(manifest: Manifest, old: str, new: str) -> tuple[File, ...]:
    return tuple(File(new if file.path == old else file.path, file.size_bytes, file.sha256) for file in manifest.files)


@pytest.mark.parametrize("new", ["modeling.py", "pytorch_model.bin", "folder/config.json", "notes.json"])
def test_a_manifest_with_a_file_that_is_never_taken_is_refused_before_anything_is_fetched(
    store: Store, remote: FolderRemote, upload: Upload, new: str
) -> None:
    revision, _ = upload()
    lie(remote, altered(revision.manifest, files=renamed(revision.manifest, "model-1.safetensors", new)))
    with pytest.raises(InvalidManifest, match=new):
        sync("documents", store, remote)
    assert not store.layout.blobs.exists()


def test_a_manifest_that_lies_about_labels_never_gets_its_name(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    lie(remote, altered(revision.manifest, labels=("O", "B-GAME", "I-GAME")))
    with pytest.raises(InvalidManifest, match="does not tell the truth"):
        sync("documents", store, remote)
    assert store.revisions() == ()


def test_a_manifest_that_lies_about_a_size_is_refused(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    first, *others = revision.manifest.files
    lie(remote, altered(revision.manifest, files=(File(first.path, first.size_bytes + 1, first.sha256), *others)))
    with pytest.raises(InvalidManifest, match="Publish the model again"):
        sync("documents", store, remote)


def test_remote_code_asked_for_by_a_pulled_configuration_is_refused(
    store: Store, remote: FolderRemote, upload: Upload, tmp_path: Path
) -> None:
    revision, _ = upload()
    config = next(file for file in revision.manifest.files if file.path == "config.json")
    content = json.loads((remote.root / blob_key(config.sha256)).read_text())
    evil = tmp_path / "evil.json"
    evil.write_text(json.dumps({**content, "auto_map": {"AutoModel": "evil.Model"}}))
    digest = revision_of(evil.read_bytes()).removeprefix("sha256:")
    remote.upload(blob_key(digest), evil, lambda _: None)
    others = tuple(file for file in revision.manifest.files if file.path != "config.json")
    files = (File("config.json", evil.stat().st_size, digest), *others)
    lie(remote, altered(revision.manifest, files=files))
    with pytest.raises(InvalidManifest, match="auto_map"):
        sync("documents", store, remote)
    assert store.revisions() == ()
