"""Pushing a revision: only missing blobs are uploaded, the tag moves last, a damaged manifest is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import RemoteUnavailable
from model_store.fileio import OnBytes
from model_store.local.store import Revision, Store
from model_store.manifest import encode_manifest
from model_store.reference import hex_digits
from model_store.remote.base import blob_key, manifest_key
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import read_remote_tag
from model_store.transfer.push import PushResult, push
from tests.support.stores import file_of


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
