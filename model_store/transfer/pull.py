"""From a reference to a verified folder, fetching what is missing: gather → plan → apply, as publishing does it.

    gather   the remote tag → its revision → its manifest; which blobs are here, which have begun to arrive, free disk
    plan     keep, fetch, evict (see plan)
    apply    evict → copy what is baked in → fetch → compare files and manifest → manifest → folder → tag

A tag in the local store follows the remote one, so that a start without the remote store serves what was served last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from model_store import fileio
from model_store.errors import Damaged, StoreFull, StoreUnwritable, UnknownModel
from model_store.local import locks
from model_store.local.blobs import blob_sizes, has_blob
from model_store.local.eviction import SyncPlan, plan_sync
from model_store.local.garbage_collection import drop_orphans, evict_revision, stored_revisions
from model_store.local.partial_blob import partial_sizes
from model_store.local.snapshots import ensure_folder
from model_store.local.store import Revision, Store
from model_store.local.tags import set_tag
from model_store.manifest import Manifest
from model_store.progress import Meter, Progress, ignore
from model_store.reference import Reference, hex_digits, parse_reference
from model_store.remote.base import Remote
from model_store.remote.tags import RemoteTag, read_remote_tag
from model_store.transfer.download import PACE, Fetch, Pace
from model_store.transfer.prefetched import copy_baked
from model_store.transfer.remote_manifest import read_manifest, require_truth

WAIT_SECONDS = 3600.0
"""How long a process waits for another one that fetches into the same store."""
Keep = Callable[[str], object]
"""Told a revision that must not be evicted from now on."""


def keep_nothing(_revision: str) -> None:
    """The Keep of somebody who serves nothing."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did."""

    revision: Revision
    fetched_bytes: int
    kept_bytes: int
    evicted: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = f"{self.revision.name}@{self.revision.tag}" if self.revision.tag else self.revision.name
        return (
            f"{name} is {self.revision.revision}: {self.fetched_bytes:,} bytes fetched, {self.kept_bytes:,} were here."
        )


def sync(
    reference: Reference | str,
    store: Store,
    remote: Remote,
    *,
    progress: Progress = ignore,
    pace: Pace = PACE,
    keep: Keep = keep_nothing,
    baked: Sequence[Path] = (),
) -> Synced:
    """Bring what `reference` stands for in the remote store now into the local one, whole and verified.

    Files that are in one of the `baked` folders are copied from there rather than fetched (see baked).
    `keep` is told the revision before anything else is done, so that the caller can see to it that nobody evicts it
    (see in_use). Raises InvalidReference, UnknownModel if the remote store does not have it, any Damaged error for what
    is stored wrongly there, and any Unable error. What arrived stays, and is not fetched again.
    """
    asked = parse_reference(reference) if isinstance(reference, str) else reference
    tag = read_remote_tag(remote, asked.name, asked.tag) if asked.tag else None
    revision = tag.revision if tag else asked.revision
    if revision is None:
        raise UnknownModel(f"{asked} in {remote.url}", ())
    keep(revision)
    pinned = Reference(asked.name, None, revision)
    synced = _here(pinned, store) or _Sync(pinned, revision, store, remote, pace, progress, tuple(baked)).run()
    if tag is not None:
        _follow(store, asked, tag)
    return replace(synced, revision=replace(synced.revision, tag=asked.tag))


def _here(pinned: Reference, store: Store) -> Synced | None:
    """The revision if it is here and whole; then nothing need be written, and the store may be read-only."""
    try:
        revision = store.resolve(pinned)
    except (UnknownModel, Damaged):
        return None
    return Synced(revision, fetched_bytes=0, kept_bytes=revision.manifest.size_bytes)


def _follow(store: Store, asked: Reference, tag: RemoteTag) -> None:
    assert asked.tag is not None
    with suppress(StoreUnwritable):
        set_tag(store.layout, asked.name, asked.tag, tag.tag)


@dataclass(frozen=True, slots=True)
class _Sync:
    """One sync of a revision that is not here, or not whole."""

    pinned: Reference
    revision: str
    store: Store
    remote: Remote
    pace: Pace
    progress: Progress
    baked: tuple[Path, ...]

    def run(self) -> Synced:
        manifest = read_manifest(self.remote, self.pinned.name, self.revision)
        evicted = self._make_room(manifest)
        layout = self.store.layout
        with (
            locks.held(layout, locks.CONTENTS, shared=True, timeout_seconds=WAIT_SECONDS),
            locks.held(layout, locks.FETCHES, timeout_seconds=WAIT_SECONDS),
        ):
            self.store.sweep()
            plan = self._plan(manifest)
            meter = Meter(self.progress, sum(file.size_bytes for file in plan.fetch))
            copied = copy_baked(layout, plan.fetch, self.baked, meter.advance)
            fetch = [file for file in plan.fetch if file not in copied]
            Fetch(layout, self.remote, self.pace, meter.advance).run(fetch)
            require_truth(layout, manifest)
            self.store.add_manifest(manifest)
            folder = ensure_folder(layout, hex_digits(self.revision), manifest)
        revision = Revision(self.pinned.name, None, self.revision, folder, manifest)
        fetched_bytes = sum(file.size_bytes for file in fetch)
        return Synced(revision, fetched_bytes, sum(file.size_bytes for file in (*plan.keep, *copied)), evicted)

    def _make_room(self, manifest: Manifest) -> tuple[str, ...]:
        """Evict what the plan says; raises StoreFull if that is not enough, and then nothing has changed."""
        plan = self._plan(manifest)
        if plan.short_bytes:
            raise StoreFull(
                f"The model store {self.store.root} needs {plan.needed_bytes + fileio.SPARE_BYTES:,} bytes for "
                f"{self.pinned.name}, and {plan.short_bytes:,} of them are neither free nor held by anything that may "
                "be evicted."
            )
        if plan.evict:
            with locks.held(self.store.layout, locks.CONTENTS):
                for revision in plan.evict:
                    evict_revision(self.store, revision)
                drop_orphans(self.store, keep={file.sha256 for file in manifest.files})
        return plan.evict

    def _plan(self, manifest: Manifest) -> SyncPlan:
        layout = self.store.layout
        wanted = {file.sha256 for file in manifest.files}
        present = {d: size for d, size in blob_sizes(layout).items() if d in wanted and has_blob(layout, d)}
        begun = partial_sizes(layout.partial)
        free_bytes = self.store.free_bytes(self.store.root)
        plan = plan_sync(manifest, present, begun, (), free_bytes=free_bytes, spare_bytes=fileio.SPARE_BYTES)
        if not plan.short_bytes:
            return plan
        stored = stored_revisions(self.store, keep=(self.revision,))
        return plan_sync(manifest, present, begun, stored, free_bytes=free_bytes, spare_bytes=fileio.SPARE_BYTES)
