"""The plan of a pull: keep, fetch, evict."""

from __future__ import annotations

from model_store.local.eviction import StoredRevision
from model_store.manifest import File, Manifest
from model_store.transfer.pull_plan import Disk, PullPlan, plan_pull


def digest(letter: str) -> str:
    return letter * 64


def manifest(**sizes: int) -> Manifest:
    files = tuple(File(f"{name}.safetensors", size, digest(name)) for name, size in sizes.items())
    return Manifest(name="m", files=files, labels=("O",), architecture="A", model_type="bert", max_tokens=1)


def stored(revision: str, used: float, *, pinned: bool = False, **sizes: int) -> StoredRevision:
    return StoredRevision(revision, {digest(name): size for name, size in sizes.items()}, used, pinned)


def plan(
    wanted: Manifest, *others: StoredRevision, free: int, begun: dict[str, int] | None = None, **present: int
) -> PullPlan:
    here = {digest(name): size for name, size in present.items()}
    return plan_pull(wanted, Disk(here, begun or {}, free_bytes=free, spare_bytes=10), others)


def test_blobs_of_full_size_are_kept_and_others_fetched() -> None:
    found = plan(manifest(a=100, b=50, c=7), free=1000, a=100, b=49)
    assert [file.sha256[0] for file in found.keep] == ["a"]
    assert [file.sha256[0] for file in found.fetch] == ["b", "c"]
    assert (found.needed_bytes, found.evict, found.short_bytes) == (57, (), 0)


def test_partly_downloaded_bytes_need_no_more_disk() -> None:
    assert plan(manifest(a=100), free=50, begun={digest("a"): 60}).needed_bytes == 40


def test_a_plan_without_downloads_needs_no_disk() -> None:
    assert plan(manifest(a=100), free=0, a=100).short_bytes == 0


def test_the_least_recently_used_are_evicted_as_needed() -> None:
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


def test_a_disk_that_stays_too_small_evicts_nothing() -> None:
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
