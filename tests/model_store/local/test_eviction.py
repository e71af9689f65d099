"""Eviction: which revisions are chosen, and how many bytes that frees."""

from __future__ import annotations

from model_store.local.eviction import StoredRevision, choose_evictions, freed_bytes

OLD = StoredRevision("old", {"a": 60, "shared": 90}, 1.0, pinned=False)
NEW = StoredRevision("new", {"b": 30, "shared": 90}, 2.0, pinned=False)
TAGGED = StoredRevision("tagged", {"c": 500}, 0.0, pinned=True)


def test_the_least_recently_used_is_chosen_first() -> None:
    assert choose_evictions([NEW, OLD], 60, set()) == ("old",)
    assert choose_evictions([NEW, OLD], 61, set()) == ("old", "new")


def test_nothing_is_chosen_if_no_bytes_are_missing() -> None:
    assert choose_evictions([OLD, NEW], 0, set()) == ()


def test_pinned_revisions_are_never_chosen() -> None:
    assert choose_evictions([TAGGED, OLD], 10_000, set()) == ("old",)


def test_a_shared_blob_is_freed_with_its_last_revision() -> None:
    assert freed_bytes([OLD, NEW], ["old"], set()) == 60
    assert freed_bytes([OLD, NEW], ["old", "new"], set()) == 180


def test_a_needed_blob_frees_nothing() -> None:
    assert freed_bytes([OLD, NEW], ["old", "new"], {"shared", "a"}) == 30
