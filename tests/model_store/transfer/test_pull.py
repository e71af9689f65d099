"""Pulling a revision: which bytes are downloaded, which tag follows, which references fail."""

from __future__ import annotations

import pytest

from model_store.errors import RemoteRefused, UnknownModel
from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.local.verify import verify_store
from model_store.remote.folder import FolderRemote
from model_store.transfer.pull import pull
from tests.support.stores import QUICK, SHARDS, Upload, file_of


def test_a_published_model_arrives_intact_under_the_same_tag(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, pushed = upload()
    assert pushed.uploaded_bytes == revision.manifest.size_bytes
    seen: list[tuple[int, int]] = []
    pulled = pull("documents", store, remote, options=QUICK, progress=lambda done, total: seen.append((done, total)))
    assert pulled.revision.revision == revision.revision
    assert pulled.revision.tag == "stable"
    assert pulled.fetched_bytes == revision.manifest.size_bytes
    assert seen[-1] == (pulled.fetched_bytes, pulled.fetched_bytes)
    assert verify_store(store).intact
    assert store.resolve("documents") == pulled.revision
    assert list(store.layout.partial.iterdir()) == []


def test_a_revision_with_one_new_shard_transfers_one_shard(store: Store, remote: FolderRemote, upload: Upload) -> None:
    first, _ = upload()
    pull("documents", store, remote)
    second, pushed = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    shard = file_of(second, "model-2.safetensors")
    assert pushed.uploaded_bytes == shard.size_bytes
    pulled = pull("documents", store, remote)
    assert pulled.fetched_bytes == shard.size_bytes
    assert pulled.kept_bytes == second.manifest.size_bytes - shard.size_bytes
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert (tag.revision, tag.earlier) == (second.revision, (first.revision,))
    assert store.resolve(f"documents@{first.revision}").revision == first.revision


def test_a_second_pull_and_a_second_push_move_nothing(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    pull("documents", store, remote)
    pulled = pull("documents", store, remote)
    assert (pulled.fetched_bytes, pulled.kept_bytes) == (0, revision.manifest.size_bytes)
    _, pushed = upload("again")
    assert (pushed.uploaded_bytes, pushed.tag_moved) == (0, False)


def test_a_revision_is_pulled_by_its_digest_without_a_tag(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    pulled = pull(f"documents@{revision.revision}", store, remote)
    assert pulled.revision.tag is None
    assert read_tag(store.layout, "documents", "stable") is None


def test_the_revision_is_reported_before_anything_is_downloaded(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    seen: list[tuple[str, bool]] = []
    pull("documents", store, remote, on_revision=lambda each: seen.append((each, store.root.exists())))
    assert seen == [(revision.revision, False)]


def test_a_model_or_store_that_does_not_exist_is_an_error(store: Store, remote: FolderRemote, upload: Upload) -> None:
    with pytest.raises(RemoteRefused):
        pull("documents", store, remote)
    upload()
    with pytest.raises(UnknownModel) as unknown:
        pull("invoices", store, remote)
    assert unknown.value.reference == f"invoices@stable in {remote.url}"
