"""Cleaning up the local store: what tags point to stays, so do their last few revisions and all that is in use.

Everything else goes, or, with a budget, as much of it as is needed, longest unused first. What nothing names goes in
any case: blobs of no manifest, unfinished fetches, the quarantine. A clean-up has the store's contents for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from model_store import fileio
from model_store.local import locks
from model_store.local.eviction import Stored, choose_evictions
from model_store.local.eviction import freed_bytes as expected_bytes
from model_store.local.garbage_collection import drop_orphans, evict_revision, stored_revisions, tagged
from model_store.local.partial_blob import partial_sizes
from model_store.local.store import Store
from model_store.progress import Meter, Progress, ignore

KEEP_LAST = 3
TEMPORARY_SECONDS = 3600.0
"""A tag or a receipt may be written at any moment, clean-up or not; that takes no hour."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a clean-up did; `budget_bytes` is what was asked for, if anything."""

    evicted: tuple[str, ...]
    freed_bytes: int
    left_bytes: int
    budget_bytes: int | None

    @property
    def within_budget(self) -> bool:
        return self.budget_bytes is None or self.left_bytes <= self.budget_bytes

    def __str__(self) -> str:
        said = f"{len(self.evicted)} revisions went, {self.freed_bytes:,} bytes are free, {self.left_bytes:,} are left."
        if not self.within_budget:
            said += f" That is more than {self.budget_bytes:,}: all that is left is tagged, recent or in use."
        return said


def collect(
    store: Store, *, keep_last: int = KEEP_LAST, budget_bytes: int | None = None, progress: Progress = ignore
) -> Collected:
    """Clean up. Raises StoreBusy while others publish or sync, StoreUnwritable."""
    with locks.held(store.layout, locks.CONTENTS):
        freed_bytes = _drop_remains(store) + drop_orphans(store)
        stored = stored_revisions(store, keep=tagged(store, earlier=keep_last))
        evicted = plan_collection(stored, store.size_bytes(), budget_bytes)
        meter = Meter(progress, expected_bytes(stored, evicted, wanted=set()))
        for revision in evicted:
            evict_revision(store, revision)
        freed_bytes += drop_orphans(store, advance=meter.advance)
    return Collected(evicted, freed_bytes, store.size_bytes(), budget_bytes)


def plan_collection(stored: tuple[Stored, ...], size_bytes: int, budget_bytes: int | None) -> tuple[str, ...]:
    """The revisions that go: all that may, or as many as bring `size_bytes` down to the budget. Pure."""
    if budget_bytes is None:
        return tuple(item.revision for item in stored if not item.pinned)
    return choose_evictions(stored, size_bytes - budget_bytes, wanted=set())


def _drop_remains(store: Store) -> int:
    """Remove what is unfinished or damaged; nobody is at it, since nobody else holds `contents`."""
    layout = store.layout
    freed_bytes = sum(partial_sizes(layout.partial).values()) + sum(partial_sizes(layout.quarantine).values())
    with fileio.writing(store.root):
        for folder in (layout.partial, layout.quarantine):
            fileio.remove(folder)
    store.sweep(older_than_seconds=TEMPORARY_SECONDS)
    return freed_bytes
