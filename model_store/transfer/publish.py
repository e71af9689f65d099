"""Publish of a folder into the local store: scans it and its weights, plans the files to copy, then writes blobs,
manifest, folder, tag.

Large files are read once: a file with a size that no blob has cannot be in the store, so it is hashed while copied. A
file with the size of a blob is hashed first, and copied only if its digest is new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model_store import fileio
from model_store.contents.allowed_files import Entry
from model_store.contents.scan import ScannedFolder, require_finite, require_unchanged, scan_folder
from model_store.fileio import Progress, ProgressCounter, no_progress
from model_store.local import locks
from model_store.local.blobs import add_blob, blob_sizes, has_blob, require_space
from model_store.local.snapshots import ensure_folder
from model_store.local.store import Revision, Store
from model_store.local.tags import move_tag
from model_store.manifest import GoldenExample, Provenance
from model_store.reference import DEFAULT_TAG, check_name, check_tag, hex_digits


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """Plan of a publish. `keep`: stored files' names → digests; `copy`: the other files."""

    keep: Mapping[str, str]
    copy: tuple[Entry, ...]

    @property
    def copy_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.copy)


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of a publish; `tag_moved`: False if the tag pointed to the revision before."""

    revision: Revision
    copied_bytes: int
    kept_bytes: int
    left_out: tuple[str, ...]
    tag_moved: bool

    def tagged(self, store: Store, tag: str) -> PublishResult:
        """Move a tag to a revision published without one; raises as `publish`."""
        tag_moved = move_tag(store.layout, self.revision.name, check_tag(tag), self.revision.revision)
        return replace(self, revision=replace(self.revision, tag=tag), tag_moved=tag_moved)

    def __str__(self) -> str:
        name = f"{self.revision.name}@{self.revision.tag}"
        if not self.tag_moved and not self.copied_bytes:
            return f"{name} is {self.revision.revision} already; nothing was written."
        return (
            f"{name} is {self.revision.revision}: {self.copied_bytes:,} bytes copied, "
            f"{self.kept_bytes:,} were in the store."
        )


def publish(
    folder: Path,
    name: str,
    store: Store,
    *,
    tag: str | None = DEFAULT_TAG,
    provenance: Provenance | None = None,
    golden: Sequence[GoldenExample] = (),
    progress: Progress = no_progress,
) -> PublishResult:
    """Store the model in `folder` as `name@tag`; the tag, if any, moves last, when the revision is complete.

    Raises RefusedFolder, InvalidReference, SourceChanged, Unreadable, StoreFull, StoreUnwritable, StoreBusy.
    """
    check_name(name), check_tag(tag or DEFAULT_TAG)
    scanned = scan_folder(folder)
    require_finite(scanned)
    with locks.acquire(store.layout, locks.CONTENTS, shared=True):
        store.sweep()
        counter = ProgressCounter(progress, sum(entry.size_bytes for entry in scanned.files))
        plan = _plan(scanned, store, counter)
        require_space(store.layout, plan.copy_bytes, store.free_bytes)
        digests = _apply(scanned, plan, store, counter)
        require_unchanged(scanned)
        manifest = scanned.manifest(name, digests, provenance, golden)
        revision = store.add_manifest(manifest)
        model_folder = ensure_folder(store.layout, hex_digits(revision), manifest)
        tag_moved = tag is not None and move_tag(store.layout, name, tag, revision)
    return PublishResult(
        Revision(name, tag, revision, model_folder, manifest),
        copied_bytes=plan.copy_bytes,
        kept_bytes=manifest.size_bytes - plan.copy_bytes,
        left_out=scanned.left_out,
        tag_moved=tag_moved,
    )


def may_be_stored(files: Sequence[Entry], stored_sizes: Collection[int]) -> tuple[Entry, ...]:
    """Choose the files with the size of a blob, which may be stored already. Pure."""
    return tuple(entry for entry in files if entry.size_bytes in stored_sizes)


def plan_copies(files: Sequence[Entry], digests: Mapping[str, str], stored: Collection[str]) -> CopyPlan:
    """Plan to keep files whose digest is `stored` and to copy the others; `digests`: of the hashed files. Pure."""
    keep = {name: digest for name, digest in digests.items() if digest in stored}
    return CopyPlan(keep, tuple(entry for entry in files if entry.name not in keep))


def _plan(scanned: ScannedFolder, store: Store, counter: ProgressCounter) -> CopyPlan:
    possibly_stored = may_be_stored(scanned.files, set(blob_sizes(store.layout).values()))
    digests = {entry.name: fileio.hash_file(scanned.folder / entry.name, counter.add) for entry in possibly_stored}
    stored = {digest for digest in set(digests.values()) if has_blob(store.layout, digest)}
    plan = plan_copies(scanned.files, digests, stored)
    counter.total_bytes += sum(entry.size_bytes for entry in plan.copy if entry.name in digests)
    return plan


def _apply(scanned: ScannedFolder, plan: CopyPlan, store: Store, counter: ProgressCounter) -> dict[str, str]:
    """Copy the planned files; returns the digests of all files."""
    digests = dict(plan.keep)
    for entry in plan.copy:
        digests[entry.name] = add_blob(store.layout, scanned.folder / entry.name, counter.add)
    return digests
