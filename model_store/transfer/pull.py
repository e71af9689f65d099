"""Pulls a revision from a remote store into the local one: verified, downloading only the files that are missing.

    read     the remote tag → its revision → its manifest; stored and partly downloaded blobs, free disk
    plan     keep, fetch, evict (see pull_plan)
    apply    evict → copy prefetched files → download → verify the manifest against the files → manifest → folder → tag

The local tag follows the remote one, so that a start without the remote store serves the revision that was served last.
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
from model_store.local.garbage_collection import evict_revision, remove_orphans, stored_revisions
from model_store.local.partial_blob import partial_sizes
from model_store.local.snapshots import ensure_folder
from model_store.local.store import Revision, Store
from model_store.local.tags import set_tag
from model_store.manifest import Manifest
from model_store.progress import Progress, ProgressCounter, no_progress
from model_store.reference import Reference, hex_digits, to_reference
from model_store.remote.base import Remote
from model_store.remote.tags import read_remote_tag
from model_store.transfer.download import DEFAULT_OPTIONS, Download, DownloadOptions
from model_store.transfer.prefetched import copy_prefetched
from model_store.transfer.pull_plan import Disk, PullPlan, plan_pull
from model_store.transfer.remote_manifest import read_manifest, verify_against_files

LOCK_TIMEOUT_SECONDS = 3600.0
"""The longest wait for another process that downloads into the same store."""
OnRevision = Callable[[str], object]
"""Called with the revision of a reference as soon as it is known, before anything is downloaded or evicted."""


def ignore_revision(_revision: str) -> None:
    """An OnRevision that does nothing."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """The result of a pull."""

    revision: Revision
    fetched_bytes: int
    kept_bytes: int
    evicted: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = f"{self.revision.name}@{self.revision.tag}" if self.revision.tag else self.revision.name
        return (
            f"{name} is {self.revision.revision}: {self.fetched_bytes:,} bytes fetched, {self.kept_bytes:,} were here."
        )


def pull(
    reference: Reference | str,
    store: Store,
    remote: Remote,
    *,
    progress: Progress = no_progress,
    options: DownloadOptions = DEFAULT_OPTIONS,
    on_revision: OnRevision = ignore_revision,
    prefetched: Sequence[Path] = (),
) -> Pulled:
    """Bring the revision that `reference` stands for in the remote store into the local one, verified.

    Files that are in one of the `prefetched` folders are copied instead of downloaded. `on_revision` lets the caller
    protect the revision from eviction (see `locks.in_use`). Files that have arrived stay after an error.

    Raises InvalidReference, UnknownModel, a Damaged error for the remote store's contents, and any Unable error.
    """
    asked = to_reference(reference)
    tag = read_remote_tag(remote, asked.name, asked.tag) if asked.tag else None
    revision = tag.revision if tag else asked.revision
    if revision is None:
        raise UnknownModel(f"{asked} in {remote.url}", ())
    on_revision(revision)
    target = Reference(asked.name, None, revision)
    pulled = _stored(target, store) or _Pull(target, store, remote, progress, options, tuple(prefetched)).run()
    if tag is not None and asked.tag is not None:
        with suppress(StoreUnwritable):
            set_tag(store.layout, asked.name, asked.tag, tag.tag)
    return replace(pulled, revision=replace(pulled.revision, tag=asked.tag))


def _stored(target: Reference, store: Store) -> Pulled | None:
    """The revision if it is complete in the store, which then need not be writable."""
    try:
        revision = store.resolve(target)
    except (UnknownModel, Damaged):
        return None
    return Pulled(revision, fetched_bytes=0, kept_bytes=revision.manifest.size_bytes)


@dataclass(frozen=True, slots=True)
class _Pull:
    """The pull of a revision that is missing from the store or incomplete; `target` is a reference by digest."""

    target: Reference
    store: Store
    remote: Remote
    progress: Progress
    options: DownloadOptions
    prefetched: tuple[Path, ...]

    def run(self) -> Pulled:
        manifest = read_manifest(self.remote, self.target.name, self._revision)
        evicted = self._evict(manifest)
        layout = self.store.layout
        with (
            locks.acquire(layout, locks.CONTENTS, shared=True, timeout_seconds=LOCK_TIMEOUT_SECONDS),
            locks.acquire(layout, locks.FETCHES, timeout_seconds=LOCK_TIMEOUT_SECONDS),
        ):
            self.store.sweep()
            plan = self._plan(manifest)
            counter = ProgressCounter(self.progress, sum(file.size_bytes for file in plan.fetch))
            copied = copy_prefetched(layout, plan.fetch, self.prefetched, counter.add)
            fetch = [file for file in plan.fetch if file not in copied]
            Download(layout, self.remote, self.options, counter.add).run(fetch)
            verify_against_files(layout, manifest)
            self.store.add_manifest(manifest)
            folder = ensure_folder(layout, hex_digits(self._revision), manifest)
        revision = Revision(self.target.name, None, self._revision, folder, manifest)
        fetched_bytes = sum(file.size_bytes for file in fetch)
        return Pulled(revision, fetched_bytes, sum(file.size_bytes for file in (*plan.keep, *copied)), evicted)

    @property
    def _revision(self) -> str:
        assert self.target.revision is not None
        return self.target.revision

    def _evict(self, manifest: Manifest) -> tuple[str, ...]:
        """Evict the planned revisions. Raises StoreFull, and evicts nothing, if that would not be enough."""
        plan = self._plan(manifest)
        if plan.short_bytes:
            raise StoreFull(
                f"The model store {self.store.root} needs {plan.needed_bytes + fileio.SPARE_BYTES:,} bytes for "
                f"{self.target.name}, and {plan.short_bytes:,} of them are neither free nor held by anything that may "
                "be evicted."
            )
        if plan.evict:
            with locks.acquire(self.store.layout, locks.CONTENTS):
                for revision in plan.evict:
                    evict_revision(self.store, revision)
                remove_orphans(self.store, keep={file.sha256 for file in manifest.files})
        return plan.evict

    def _plan(self, manifest: Manifest) -> PullPlan:
        layout = self.store.layout
        digests = {file.sha256 for file in manifest.files}
        disk = Disk(
            present={d: size for d, size in blob_sizes(layout).items() if d in digests and has_blob(layout, d)},
            begun=partial_sizes(layout.partial),
            free_bytes=self.store.free_bytes(self.store.root),
            spare_bytes=fileio.SPARE_BYTES,
        )
        plan = plan_pull(manifest, disk, stored=())
        if not plan.short_bytes:
            return plan
        return plan_pull(manifest, disk, stored_revisions(self.store, keep=(self._revision,)))
