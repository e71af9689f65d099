"""Garbage collection: what is kept, what goes, and in which order."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from model_store.local import locks
from model_store.local.garbage_collection import (
    StoredRevision,
    collect_garbage,
    evict_revision,
    freed_bytes,
    plan_collection,
    remove_orphans,
    stored_revisions,
    tagged_revisions,
)
from model_store.local.store import Store
from model_store.local.verify import verify_store
from model_store.reference import Reference
from model_store.transfer.publish import publish
from model_store.transfer.tag_moves import roll_back
from tests.support.stores import MakeModel

Publish = Callable[[str], str]


@pytest.fixture
def publish_text(make_model: MakeModel, store: Store) -> Publish:
    """Publish a model whose weights hold this text, as `documents@stable`; its revision."""

    def publish_text(text: str) -> str:
        folder = make_model(text, {"model.safetensors": text.encode() * 9_999})
        return publish(folder, "documents", store).revision.revision

    return publish_text


def test_a_collection_keeps_the_tag_and_its_last_revisions(publish_text: Publish, store: Store) -> None:
    one, two, three = map(publish_text, ("one", "two", "three"))
    collected = collect_garbage(store, keep_last=1)
    assert collected.evicted == (one,)
    assert set(store.revisions()) == {two, three}
    assert collected.left_bytes == store.size_bytes()
    assert collected.within_budget
    assert verify_store(store).intact


def test_a_collection_keeps_what_rollbacks_left_until_a_publish(publish_text: Publish, store: Store) -> None:
    one, two, three = map(publish_text, ("one", "two", "three"))
    for _ in range(2):
        left = roll_back(Reference("documents", "stable", None), store, None)
    assert (left.revision, left.before) == (one, two)
    assert collect_garbage(store).evicted == ()
    assert roll_back(Reference("documents", "stable", None), store, None, to=three).before == one
    four = publish_text("four")
    assert set(collect_garbage(store, keep_last=1).evicted) == {one, two}
    assert set(store.revisions()) == {three, four}


def test_a_collection_removes_only_blobs_that_no_other_revision_has(publish_text: Publish, store: Store) -> None:
    publish_text("one"), publish_text("other")
    before_bytes = store.size_bytes()
    seen: list[tuple[int, int]] = []
    collected = collect_garbage(store, keep_last=0, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(collected.freed_bytes, collected.freed_bytes)]
    assert before_bytes - collected.freed_bytes == collected.left_bytes
    assert store.resolve("documents").manifest.size_bytes == collected.left_bytes


def test_a_revision_in_use_is_kept(publish_text: Publish, store: Store) -> None:
    one, _ = publish_text("one"), publish_text("two")
    with locks.in_use(store.layout, one):
        assert collect_garbage(store, keep_last=0).evicted == ()
    assert collect_garbage(store, keep_last=0).evicted == (one,)


def test_a_budget_evicts_the_least_recently_used_first(publish_text: Publish, store: Store) -> None:
    one, two, _ = map(publish_text, ("one", "two", "three"))
    with locks.in_use(store.layout, two), locks.in_use(store.layout, one):
        pass
    collected = collect_garbage(store, keep_last=0, budget_bytes=store.size_bytes() - 1)
    assert collected.evicted == (two,)
    assert collected.within_budget


def test_a_budget_below_what_is_kept_is_reported(publish_text: Publish, store: Store) -> None:
    publish_text("one")
    collected = collect_garbage(store, budget_bytes=1)
    assert (collected.evicted, collected.freed_bytes, collected.within_budget) == ((), 0, False)


def test_unfinished_and_quarantined_files_are_removed_and_counted(publish_text: Publish, store: Store) -> None:
    publish_text("one")
    for folder in (store.layout.partial, store.layout.quarantine):
        folder.mkdir()
        (folder / ("a" * 64)).write_bytes(b"x" * 4096)
    assert collect_garbage(store).freed_bytes == 2 * 4096
    assert not store.layout.partial.exists()
    assert not store.layout.quarantine.exists()


def test_a_collection_waits_for_publishers(publish_text: Publish, store: Store) -> None:
    one, _ = publish_text("one"), publish_text("two")
    collection = threading.Thread(target=collect_garbage, args=(store,), kwargs={"keep_last": 0})
    with locks.acquire(store.layout, locks.CONTENTS, shared=True):
        collection.start()
        collection.join(0.2)
        assert one in store.revisions()
    collection.join()
    assert one not in store.revisions()


def test_tags_and_users_pin_revisions(publish_text: Publish, store: Store) -> None:
    one, two = publish_text("one"), publish_text("two")
    assert {item.revision: item.pinned for item in stored_revisions(store)} == {one: False, two: True}
    assert {item.revision: item.pinned for item in stored_revisions(store, keep=[one])} == {one: True, two: True}
    assert tagged_revisions(store, earlier=1) == {one, two}


def test_damaged_revisions_have_no_blobs_and_damaged_tags_pin_none(publish_text: Publish, store: Store) -> None:
    revision = publish_text("one")
    store.layout.manifest(revision.removeprefix("sha256:")).write_bytes(b"{}")
    store.layout.tag("documents", "stable").write_bytes(b"{")
    (found,) = stored_revisions(store)
    assert (found.blobs, found.pinned) == ({}, False)


def test_an_evicted_revision_leaves_its_blobs_to_remove_orphans(publish_text: Publish, store: Store) -> None:
    revision = publish_text("one")
    digests = [file.sha256 for file in store.manifest(revision).files]
    evict_revision(store, revision)
    assert store.revisions() == ()
    assert all(store.layout.blob(digest).exists() for digest in digests)
    freed_bytes = remove_orphans(store, keep=digests[:1])
    assert freed_bytes > 0
    assert [path.name for path in store.layout.blobs.iterdir()] == digests[:1]


@pytest.mark.parametrize(
    ("budget_bytes", "expected"), [(None, ("old", "new")), (100, ()), (99, ("old",)), (0, ("old", "new"))]
)
def test_a_plan_takes_all_or_as_many_as_the_budget_needs(budget_bytes: int | None, expected: tuple[str, ...]) -> None:
    stored = (
        StoredRevision("old", {"a": 30}, 1.0, pinned=False),
        StoredRevision("new", {"b": 30}, 2.0, pinned=False),
        StoredRevision("tagged", {"c": 40}, 0.0, pinned=True),
    )
    assert plan_collection(stored, 100, budget_bytes) == expected


OLD = StoredRevision("old", {"a": 60, "shared": 90}, 1.0, pinned=False)
NEW = StoredRevision("new", {"b": 30, "shared": 90}, 2.0, pinned=False)


def test_a_shared_blob_is_freed_with_its_last_revision() -> None:
    assert freed_bytes([OLD, NEW], ["old"], set()) == 60
    assert freed_bytes([OLD, NEW], ["old", "new"], set()) == 180
