"""Garbage collection of the local store: removes revisions, unreferenced blobs, and unfinished or quarantined files.

Revisions that a tag points to, the tags' last few earlier ones, and revisions in use are kept. All others are
removed, or, with a budget, as many as needed, least recently used first. A blob that another revision or the caller
still needs frees nothing. All functions that delete require the lock `contents` exclusively; `collect_garbage` acquires
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from model_store import fileio
from model_store.errors import Damaged, InvalidTag, StoreBusy
from model_store.fileio import OnBytes, Progress, ProgressCounter, ignore_bytes, no_progress
from model_store.local import locks
from model_store.local.blobs import blob_sizes
from model_store.local.partial_blob import partial_sizes
from model_store.local.store import Store
from model_store.local.tags import read_tag, tag_names
from model_store.reference import hex_digits


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision in the local store. `blobs`: digest → bytes. `pinned`: a tag points to it, or it is in use."""

    revision: str
    blobs: Mapping[str, int]
    last_used_seconds: float
    pinned: bool


def choose_evictions(stored: Sequence[StoredRevision], missing_bytes: int, needed_digests: set[str]) -> tuple[str, ...]:
    """Choose unpinned revisions, least recently used first, until they free `missing_bytes`."""
    chosen: list[str] = []
    for item in sorted(stored, key=lambda item: item.last_used_seconds):
        if freed_bytes(stored, chosen, needed_digests) >= missing_bytes:
            break
        if not item.pinned:
            chosen.append(item.revision)
    return tuple(chosen)


def freed_bytes(stored: Sequence[StoredRevision], evict: Sequence[str], needed_digests: set[str]) -> int:
    """Sum the bytes of the blobs that only the revisions in `evict` have and that are not needed."""
    kept = {digest for item in stored if item.revision not in evict for digest in item.blobs} | needed_digests
    gone = {digest: size for item in stored if item.revision in evict for digest, size in item.blobs.items()}
    return sum(size for digest, size in gone.items() if digest not in kept)


KEEP_LAST = 3
TEMPORARY_SECONDS = 3600.0
"""Seconds after which a temporary file is abandoned: tags and receipts are written without the lock, but quickly."""


@dataclass(frozen=True, slots=True)
class CollectionResult:
    """The result of a garbage collection; `budget_bytes`: the requested size, if any."""

    evicted: tuple[str, ...]
    freed_bytes: int
    left_bytes: int
    budget_bytes: int | None

    @property
    def within_budget(self) -> bool:
        return self.budget_bytes is None or self.left_bytes <= self.budget_bytes

    def __str__(self) -> str:
        text = f"{len(self.evicted)} revisions went, {self.freed_bytes:,} bytes are free, {self.left_bytes:,} are left."
        if not self.within_budget:
            text += f" That is more than {self.budget_bytes:,}: all that is left is tagged, recent or in use."
        return text


def collect_garbage(
    store: Store, *, keep_last: int = KEEP_LAST, budget_bytes: int | None = None, progress: Progress = no_progress
) -> CollectionResult:
    """Remove unneeded contents. Raises StoreBusy while other processes publish or pull, StoreUnwritable."""
    with locks.acquire(store.layout, locks.CONTENTS):
        removed_bytes = _remove_unfinished(store) + remove_orphans(store)
        stored = stored_revisions(store, keep=tagged_revisions(store, earlier=keep_last))
        evicted = plan_collection(stored, store.size_bytes(), budget_bytes)
        counter = ProgressCounter(progress, freed_bytes(stored, evicted, needed_digests=set()))
        for revision in evicted:
            evict_revision(store, revision)
        removed_bytes += remove_orphans(store, on_bytes=counter.add)
    return CollectionResult(evicted, removed_bytes, store.size_bytes(), budget_bytes)


def plan_collection(stored: tuple[StoredRevision, ...], size_bytes: int, budget_bytes: int | None) -> tuple[str, ...]:
    """Choose the revisions to remove: all unpinned ones, or enough to bring `size_bytes` down to the budget. Pure."""
    if budget_bytes is None:
        return tuple(item.revision for item in stored if not item.pinned)
    return choose_evictions(stored, size_bytes - budget_bytes, needed_digests=set())


def stored_revisions(store: Store, keep: Iterable[str] = ()) -> tuple[StoredRevision, ...]:
    """List all revisions in the store; those in `keep`, tagged or in use are pinned. A damaged one has no blobs."""
    pinned = {*keep, *tagged_revisions(store)}
    return tuple(
        StoredRevision(
            revision,
            _blobs(store, revision),
            locks.last_used_seconds(store.layout, revision),
            revision in pinned or locks.is_in_use(store.layout, revision),
        )
        for revision in store.revisions()
    )


def tagged_revisions(store: Store, earlier: int = 0) -> set[str]:
    """Collect the revisions that tags point to, or pointed to within `earlier` moves, or left by a rollback."""
    found = set()
    for name, tag in tag_names(store.layout):
        try:
            content = read_tag(store.layout, name, tag)
        except InvalidTag:
            continue
        if content:
            found |= {content.revision, *content.earlier[:earlier], *(content.rolled_back if earlier else ())}
    return found


def evict_revision(store: Store, revision: str) -> None:
    """Remove a revision's manifest, then its folder. Its blobs are removed by `remove_orphans`."""
    digest, layout = hex_digits(revision), store.layout
    with fileio.writing(store.root):
        fileio.remove(layout.manifest(digest))
        fileio.remove(layout.model(digest))


def remove_untagged(store: Store, revision: str) -> None:
    """Remove a revision that no tag points to, and what it alone needs. While others publish or pull it stays."""
    with suppress(StoreBusy), locks.acquire(store.layout, locks.CONTENTS):
        if revision not in tagged_revisions(store) and not locks.is_in_use(store.layout, revision):
            evict_revision(store, revision)
            remove_orphans(store)


def remove_orphans(store: Store, keep: Iterable[str] = (), on_bytes: OnBytes = ignore_bytes) -> int:
    """Remove the blobs that no manifest names, except the digests in `keep`; returns the freed bytes."""
    needed = {*keep, *(digest for revision in store.revisions() for digest in _blobs(store, revision))}
    removed_bytes = 0
    with fileio.writing(store.root):
        for digest, size_bytes in blob_sizes(store.layout).items():
            if digest not in needed:
                fileio.remove(store.layout.blob(digest))
                fileio.remove(store.layout.blob_receipt(digest))
                removed_bytes += size_bytes
                on_bytes(size_bytes)
    return removed_bytes


def _remove_unfinished(store: Store) -> int:
    """Remove unfinished downloads, the quarantine and abandoned temporary files; returns the bytes of the first two."""
    layout = store.layout
    removed_bytes = sum(partial_sizes(layout.partial).values()) + sum(partial_sizes(layout.quarantine).values())
    with fileio.writing(store.root):
        for folder in (layout.partial, layout.quarantine):
            fileio.remove(folder)
    store.sweep(older_than_seconds=TEMPORARY_SECONDS)
    return removed_bytes


def _blobs(store: Store, revision: str) -> dict[str, int]:
    try:
        return {file.sha256: file.size_bytes for file in store.manifest(revision).files}
    except Damaged:
        return {}
