"""Eviction policy: chooses the revisions to remove for a number of bytes, least recently used first. Pure.

A revision is never chosen while a tag points to it or while it is in use, and a blob that another revision or the
caller still needs frees nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision in the local store: sizes of its blobs by digest; `pinned` if a tag points to it or it is in use."""

    revision: str
    blobs: Mapping[str, int]
    last_used_seconds: float
    pinned: bool


def choose_evictions(stored: Sequence[StoredRevision], missing_bytes: int, needed_digests: set[str]) -> tuple[str, ...]:
    """The fewest unpinned revisions, least recently used first, that free `missing_bytes`; all, if they free less."""
    chosen: list[str] = []
    for item in sorted(stored, key=lambda item: item.last_used_seconds):
        if freed_bytes(stored, chosen, needed_digests) >= missing_bytes:
            break
        if not item.pinned:
            chosen.append(item.revision)
    return tuple(chosen)


def freed_bytes(stored: Sequence[StoredRevision], evict: Sequence[str], needed_digests: set[str]) -> int:
    """Bytes of the blobs that belong to the revisions in `evict` only and are not needed."""
    kept = {digest for item in stored if item.revision not in evict for digest in item.blobs} | needed_digests
    gone = {digest: size for item in stored if item.revision in evict for digest, size in item.blobs.items()}
    return sum(size for digest, size in gone.items() if digest not in kept)
