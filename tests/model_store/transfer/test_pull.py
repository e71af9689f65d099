"""From a remote store to a verified folder: what travels, and what stays."""

from __future__ import annotations

from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.local.verify import verify_store
from model_store.remote.folder import FolderRemote
from model_store.transfer.pull import sync
from tests.model_store.conftest import BRIEF, SHARDS, Upload


def test_what_was_published_arrives_whole_under_the_same_tag(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, pushed = upload()
    assert pushed.uploaded_bytes == revision.manifest.size_bytes
    seen: list[tuple[int, int]] = []
    synced = sync("documents", store, remote, pace=BRIEF, progress=lambda done, total: seen.append((done, total)))
    assert synced.revision.revision == revision.revision
    assert synced.revision.tag == "stable"
    assert synced.fetched_bytes == revision.manifest.size_bytes
    assert seen[-1] == (synced.fetched_bytes, synced.fetched_bytes)
    assert verify_store(store).sound
    assert store.resolve("documents") == synced.revision
    assert list(store.layout.partial.iterdir()) == []


def test_a_revision_that_shares_all_but_one_shard_costs_one_shard(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    first, _ = upload()
    sync("documents", store, remote)
    second, pushed = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    shard = next(file for file in second.manifest.files if file.path == "model-2.safetensors")
    assert pushed.uploaded_bytes == shard.size_bytes
    synced = sync("documents", store, remote)
    assert synced.fetched_bytes == shard.size_bytes
    assert synced.kept_bytes == second.manifest.size_bytes - shard.size_bytes
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert (tag.revision, tag.earlier) == (second.revision, (first.revision,))
    assert store.resolve(f"documents@{first.revision}").revision == first.revision


def test_a_second_sync_and_a_second_push_move_nothing(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    sync("documents", store, remote)
    synced = sync("documents", store, remote)
    assert (synced.fetched_bytes, synced.kept_bytes) == (0, revision.manifest.size_bytes)
    _, pushed = upload("again")
    assert (pushed.uploaded_bytes, pushed.tag_moved) == (0, False)


def test_a_revision_is_pulled_by_its_digest_without_a_tag(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    synced = sync(f"documents@{revision.revision}", store, remote)
    assert synced.revision.tag is None
    assert read_tag(store.layout, "documents", "stable") is None


def test_the_caller_hears_the_revision_before_anything_is_fetched(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    kept: list[tuple[str, bool]] = []
    sync("documents", store, remote, keep=lambda each: kept.append((each, store.root.exists())))
    assert kept == [(revision.revision, False)]
