"""The plan of a pull: which files to keep, to download and to evict for, and whether the disk is large enough. Pure.

Revisions are evicted only if the disk is too small, and none if evicting all of them would not be enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_store.local.eviction import StoredRevision, choose_evictions, freed_bytes
from model_store.manifest import File, Manifest


@dataclass(frozen=True, slots=True)
class PullPlan:
    """`keep` and `fetch` partition the manifest's files, `evict` names revisions; `short_bytes` are still missing."""

    keep: tuple[File, ...]
    fetch: tuple[File, ...]
    evict: tuple[str, ...]
    needed_bytes: int
    short_bytes: int


@dataclass(frozen=True, slots=True)
class Disk:
    """Blobs that are stored and blobs that are partly downloaded (digest → bytes), and free and reserved bytes."""

    present: Mapping[str, int]
    begun: Mapping[str, int]
    free_bytes: int
    spare_bytes: int


def plan_pull(manifest: Manifest, disk: Disk, stored: Sequence[StoredRevision]) -> PullPlan:
    """The plan for the files of `manifest`, given the revisions in the store that may be evicted."""
    unique = {file.sha256: file for file in manifest.files}.values()
    keep = tuple(file for file in unique if disk.present.get(file.sha256) == file.size_bytes)
    fetch = tuple(file for file in unique if file not in keep)
    needed_bytes = sum(max(0, file.size_bytes - disk.begun.get(file.sha256, 0)) for file in fetch)
    missing_bytes = needed_bytes + disk.spare_bytes - disk.free_bytes if needed_bytes else 0
    needed_digests = {file.sha256 for file in unique}
    evict = choose_evictions(stored, missing_bytes, needed_digests)
    short_bytes = missing_bytes - freed_bytes(stored, evict, needed_digests)
    if short_bytes > 0:
        evict = ()
    return PullPlan(keep, fetch, evict, needed_bytes, max(0, short_bytes))
