"""Keep, fetch, evict: plain values in, a plan out."""

from __future__ import annotations

from model_store.local.eviction import Stored, SyncPlan, plan_sync
from model_store.manifest import File, Manifest


def digest(letter: str) -> str:
    return letter * 64


def manifest(**sizes: int) -> Manifest:
    files = tuple(File(f"{name}.safetensors", size, digest(name)) for name, size in sizes.items())
    return Manifest(name="m", files=files, labels=("O",), architecture="A", model_type="bert", max_tokens=1)


def stored(revision: str, used: float, *, pinned: bool = False, **sizes: int) -> Stored:
    return Stored(revision, {digest(name): size for name, size in sizes.items()}, used, pinned)


def plan(wanted: Manifest, *others: Stored, free: int, begun: dict[str, int] | None = None, **present: int) -> SyncPlan:
    here = {digest(name): size for name, size in present.items()}
    return plan_sync(wanted, here, begun or {}, others, free_bytes=free, spare_bytes=10)


def test_what_is_here_in_its_full_size_is_kept_and_the_rest_fetched() -> None:
    found = plan(manifest(a=100, b=50, c=7), free=1000, a=100, b=49)
    assert [file.sha256[0] for file in found.keep] == ["a"]
    assert [file.sha256[0] for file in found.fetch] == ["b", "c"]
    assert (found.needed_bytes, found.evict, found.short_bytes) == (57, (), 0)


def test_what_has_begun_to_arrive_takes_no_more_disk() -> None:
    assert plan(manifest(a=100), free=50, begun={digest("a"): 60}).needed_bytes == 40


def test_nothing_to_fetch_needs_no_disk_at_all() -> None:
    assert plan(manifest(a=100), free=0, a=100).short_bytes == 0


def test_the_longest_unused_goes_first_and_only_as_many_as_needed() -> None:
    others = (stored("new", 3.0, x=100), stored("old", 1.0, y=60), stored("middle", 2.0, z=60))
    assert plan(manifest(a=100), *others, free=50).evict == ("old",)
    assert plan(manifest(a=100), *others, free=0).evict == ("old", "middle")


def test_pinned_revisions_and_shared_blobs_free_nothing() -> None:
    others = (
        stored("tagged", 1.0, pinned=True, x=500, s=90),
        stored("old", 2.0, s=90, y=30),
        stored("older", 0.0, a=9),
    )
    found = plan(manifest(a=100), *others, free=80)
    assert found.evict == ("older", "old")
    assert found.short_bytes == 0


def test_a_disk_that_stays_too_small_evicts_nothing_and_says_by_how_much() -> None:
    found = plan(manifest(a=100), stored("old", 1.0, y=30), free=50)
    assert (found.evict, found.short_bytes) == ((), 30)


def test_a_blob_that_two_files_share_is_fetched_once() -> None:
    twice = Manifest(
        name="m",
        files=(File("a.safetensors", 5, digest("a")), File("b.safetensors", 5, digest("a"))),
        labels=("O",),
        architecture="A",
        model_type="bert",
        max_tokens=1,
    )
    assert len(plan(twice, free=100).fetch) == 1
