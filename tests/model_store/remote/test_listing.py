"""Listing a remote store."""

from __future__ import annotations

from model_store.reference import hex_digits
from model_store.remote.folder import FolderRemote
from model_store.remote.keys import manifest_key, tag_key
from model_store.remote.listing import list_remote
from model_store.remote.tags import change_remote_tag
from model_store.tag import moved
from tests.support.stores import SHARDS, Upload


def test_every_revision_is_listed_with_its_tags(remote: FolderRemote, upload: Upload) -> None:
    first, _ = upload()
    second, _ = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    change_remote_tag(remote, "documents", "next", lambda old: moved(old, second.revision, now_seconds=0.0))
    listed = {model.revision: model for model in list_remote(remote)}
    assert {revision: model.tags for revision, model in listed.items()} == {
        first.revision: (),
        second.revision: ("next", "stable"),
    }
    assert listed[first.revision].size_bytes == first.manifest.size_bytes
    assert 0 < listed[first.revision].shared_bytes < first.manifest.size_bytes


def test_damaged_and_missing_manifests_and_tags_are_listed(remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    (remote.root / manifest_key(hex_digits(revision.revision))).write_bytes(b"{}")
    missing = "sha256:" + "1" * 64
    change_remote_tag(remote, "cv", "stable", lambda old: moved(old, missing, now_seconds=0.0))
    remote.create(tag_key("torn", "stable", 1), b"{")
    listed = {model.name: model for model in list_remote(remote)}
    assert all(model.problem for model in listed.values())
    assert {name: (model.revision, model.tags) for name, model in listed.items()} == {
        "documents": (revision.revision, ("stable",)),
        "cv": (missing, ("stable",)),
        "torn": ("", ("stable",)),
    }


def test_an_empty_remote_store_lists_nothing(remote: FolderRemote) -> None:
    remote.root.mkdir()
    assert list_remote(remote) == ()
