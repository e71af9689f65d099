"""Pulled manifests are verified as for a publish; prefetched files are copied only if they are right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model_store.errors import InvalidManifest, MissingFile
from model_store.local.store import Store
from model_store.local.verify import verify_store
from model_store.manifest import File, Manifest, revision_of
from model_store.reference import hex_digits
from model_store.remote.base import blob_key, manifest_key
from model_store.remote.folder import FolderRemote
from model_store.transfer.publish import publish
from model_store.transfer.pull import pull, read_manifest, verify_against_files
from tests.support.stores import SHARDS, MakeModel, Upload, file_of
from tests.support.wrong_manifests import altered, put_manifest


def test_a_missing_manifest_is_an_error(remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    remote.delete(manifest_key(hex_digits(revision.revision)))
    with pytest.raises(MissingFile):
        read_manifest(remote, "documents", revision.revision)


def test_a_damaged_manifest_is_an_error_with_its_digest(remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    (remote.root / manifest_key(hex_digits(revision.revision))).write_bytes(b"{}")
    with pytest.raises(InvalidManifest, match=revision_of(b"{}")):
        read_manifest(remote, "documents", revision.revision)


def test_a_manifest_of_another_model_is_refused(remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    with pytest.raises(InvalidManifest, match="'documents'"):
        read_manifest(remote, "invoices", revision.revision)


def renamed(manifest: Manifest, old: str, new: str) -> tuple[File, ...]:
    return tuple(File(new if file.path == old else file.path, file.size_bytes, file.sha256) for file in manifest.files)


@pytest.mark.parametrize("new", ["modeling.py", "pytorch_model.bin", "folder/config.json", "notes.json"])
def test_a_manifest_with_a_refused_file_downloads_nothing(
    store: Store, remote: FolderRemote, upload: Upload, new: str
) -> None:
    revision, _ = upload()
    put_manifest(remote, altered(revision.manifest, files=renamed(revision.manifest, "model-1.safetensors", new)))
    with pytest.raises(InvalidManifest, match=new):
        pull("documents", store, remote)
    assert not store.layout.blobs.exists()


@pytest.mark.parametrize(
    "changes", [{"labels": ("O", "B-GAME", "I-GAME")}, {"architecture": "Other"}, {"max_tokens": 9}]
)
def test_a_manifest_that_contradicts_its_files_is_refused(
    store: Store, make_model: MakeModel, changes: dict[str, object]
) -> None:
    revision = publish(make_model(), "documents", store).revision
    with pytest.raises(InvalidManifest):
        verify_against_files(store.layout, altered(revision.manifest, **changes))


def test_a_refused_manifest_is_not_stored(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    put_manifest(remote, altered(revision.manifest, labels=("O", "B-GAME", "I-GAME")))
    with pytest.raises(InvalidManifest):
        pull("documents", store, remote)
    assert store.revisions() == ()


def test_a_pulled_config_with_remote_code_is_refused(
    store: Store, remote: FolderRemote, upload: Upload, tmp_path: Path
) -> None:
    revision, _ = upload()
    content = json.loads((remote.root / blob_key(file_of(revision, "config.json").sha256)).read_text())
    evil = tmp_path / "evil.json"
    evil.write_text(json.dumps({**content, "auto_map": {"AutoModel": "evil.Model"}}))
    digest = revision_of(evil.read_bytes()).removeprefix("sha256:")
    remote.upload(blob_key(digest), evil, lambda _: None)
    others = tuple(file for file in revision.manifest.files if file.path != "config.json")
    files = (File("config.json", evil.stat().st_size, digest), *others)
    put_manifest(remote, altered(revision.manifest, files=files))
    with pytest.raises(InvalidManifest, match="auto_map"):
        pull("documents", store, remote)
    assert store.revisions() == ()


@pytest.mark.parametrize("form", ["model", "folder of models", "store"])
def test_prefetched_files_are_not_downloaded(
    store: Store, remote: FolderRemote, upload: Upload, make_model: MakeModel, tmp_path: Path, form: str
) -> None:
    revision, _ = upload()
    make_model("prefetched", SHARDS)
    place = {"model": tmp_path / "prefetched", "folder of models": tmp_path, "store": tmp_path / "publisher"}[form]
    for file in revision.manifest.files:
        if file.path.endswith(".safetensors"):
            remote.delete(blob_key(file.sha256))
    pulled = pull("documents", store, remote, prefetched=[tmp_path / "nothing", place])
    assert (pulled.fetched_bytes, pulled.kept_bytes) == (0, revision.manifest.size_bytes)
    assert verify_store(store).intact


def test_a_prefetched_file_with_another_digest_is_downloaded(
    store: Store, remote: FolderRemote, upload: Upload, make_model: MakeModel
) -> None:
    upload()
    folder = make_model("prefetched", {**SHARDS, "model-1.safetensors": b"!" * 20_000})
    pulled = pull("documents", store, remote, prefetched=[folder])
    assert pulled.fetched_bytes == file_of(pulled.revision, "model-1.safetensors").size_bytes
    assert verify_store(store).intact
