"""What a sync will do: keep, fetch, evict, and whether the disk is large enough. Pure.

Evicted is only what the disk is too small for, the revision that was not used for longest first, and never one that a
tag points to, that is in use, or that is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_store.manifest import File, Manifest


@dataclass(frozen=True, slots=True)
class Stored:
    """A revision in the local store: sizes of its blobs by digest; `pinned` if a tag points to it or it is in use."""

    revision: str
    blobs: Mapping[str, int]
    last_used_seconds: float
    pinned: bool


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """`keep` and `fetch` share out the manifest's files, `evict` names revisions, `short_bytes` cannot be had."""

    keep: tuple[File, ...]
    fetch: tuple[File, ...]
    evict: tuple[str, ...]
    needed_bytes: int
    short_bytes: int


def plan_sync(
    manifest: Manifest,
    present: Mapping[str, int],
    begun: Mapping[str, int],
    stored: Sequence[Stored],
    *,
    free_bytes: int,
    spare_bytes: int,
) -> SyncPlan:
    """The plan, given blobs that are there and blobs that have begun to arrive (digest → bytes), and the free disk."""
    unique = {file.sha256: file for file in manifest.files}.values()
    keep = tuple(file for file in unique if present.get(file.sha256) == file.size_bytes)
    fetch = tuple(file for file in unique if file not in keep)
    needed_bytes = sum(max(0, file.size_bytes - begun.get(file.sha256, 0)) for file in fetch)
    missing_bytes = needed_bytes + spare_bytes - free_bytes if needed_bytes else 0
    evict = choose_evictions(stored, missing_bytes, wanted={file.sha256 for file in unique})
    short_bytes = missing_bytes - freed_bytes(stored, evict, wanted={file.sha256 for file in unique})
    if short_bytes > 0:
        evict = ()
    return SyncPlan(keep, fetch, evict, needed_bytes, max(0, short_bytes))


def choose_evictions(stored: Sequence[Stored], missing_bytes: int, wanted: set[str]) -> tuple[str, ...]:
    """The fewest revisions, longest unused first, whose own blobs have that many bytes; all, if they have fewer."""
    chosen: list[str] = []
    for item in sorted(stored, key=lambda item: item.last_used_seconds):
        if freed_bytes(stored, chosen, wanted) >= missing_bytes:
            break
        if not item.pinned:
            chosen.append(item.revision)
    return tuple(chosen)


def freed_bytes(stored: Sequence[Stored], evict: Sequence[str], wanted: set[str]) -> int:
    """What evicting these revisions sets free: the blobs that no other revision has and nobody wants."""
    kept = {digest for item in stored if item.revision not in evict for digest in item.blobs} | wanted
    gone = {digest: size for item in stored if item.revision in evict for digest, size in item.blobs.items()}
    return sum(size for digest, size in gone.items() if digest not in kept)
