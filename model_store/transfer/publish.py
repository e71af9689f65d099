"""Publishing a folder: gather (what is in it) → plan (which blobs are missing) → apply (copy, manifest, folder, tag).

Each large file is read once. A file whose size no blob has cannot be in the store: it is hashed while it is copied. One
whose size a blob has is hashed first, and copied only if the digest is new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_store import fileio
from model_store.contents.allowed_files import Entry
from model_store.contents.scan import Candidate, gather, require_unchanged
from model_store.local import locks
from model_store.local.blobs import add_blob, blob_sizes, has_blob, require_space
from model_store.local.snapshots import ensure_folder
from model_store.local.store import Revision, Store
from model_store.local.tags import move_tag
from model_store.manifest import GoldenExample, Provenance
from model_store.progress import Meter, Progress, ignore
from model_store.reference import DEFAULT_TAG, check_name, check_tag, hex_digits


@dataclass(frozen=True, slots=True)
class Plan:
    """`keep` maps names of files that are in the store to their digests; `copy` has the others."""

    keep: Mapping[str, str]
    copy: tuple[Entry, ...]

    @property
    def copy_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.copy)


@dataclass(frozen=True, slots=True)
class Published:
    """What a publish did. `tag_moved` is false if the tag pointed there before."""

    revision: Revision
    copied_bytes: int
    kept_bytes: int
    left_out: tuple[str, ...]
    tag_moved: bool

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
    progress: Progress = ignore,
) -> Published:
    """Store the model in `folder` as `name@tag`; the tag, if any, moves last, and only to what is whole.

    Raises RefusedFolder, InvalidReference, SourceChanged, Unreadable, StoreFull, StoreUnwritable, StoreBusy.
    """
    check_name(name), check_tag(tag or DEFAULT_TAG)
    candidate = gather(folder)
    with locks.held(store.layout, locks.CONTENTS, shared=True):
        store.sweep()
        meter = Meter(progress, sum(entry.size_bytes for entry in candidate.files))
        plan = _look(candidate, store, meter)
        require_space(store.layout, plan.copy_bytes, store.free_bytes)
        digests = _apply(candidate, plan, store, meter)
        require_unchanged(candidate)
        manifest = candidate.manifest(name, digests, provenance, golden)
        revision = store.add_manifest(manifest)
        place = ensure_folder(store.layout, hex_digits(revision), manifest)
        tag_moved = tag is not None and move_tag(store.layout, name, tag, revision)
    return Published(
        Revision(name, tag, revision, place, manifest),
        copied_bytes=plan.copy_bytes,
        kept_bytes=manifest.size_bytes - plan.copy_bytes,
        left_out=candidate.left_out,
        tag_moved=tag_moved,
    )


def may_be_stored(files: Sequence[Entry], stored_sizes: Collection[int]) -> tuple[Entry, ...]:
    """The files that have the size of some blob, and so have to be hashed to know. Pure."""
    return tuple(entry for entry in files if entry.size_bytes in stored_sizes)


def plan_copies(files: Sequence[Entry], digests: Mapping[str, str], stored: Collection[str]) -> Plan:
    """Keep what is `stored` under its digest, copy the rest. `digests` has those that were hashed. Pure."""
    keep = {name: digest for name, digest in digests.items() if digest in stored}
    return Plan(keep, tuple(entry for entry in files if entry.name not in keep))


def _look(candidate: Candidate, store: Store, meter: Meter) -> Plan:
    suspects = may_be_stored(candidate.files, set(blob_sizes(store.layout).values()))
    digests = {entry.name: fileio.hash_file(candidate.folder / entry.name, meter.advance) for entry in suspects}
    stored = {digest for digest in set(digests.values()) if has_blob(store.layout, digest)}
    plan = plan_copies(candidate.files, digests, stored)
    meter.total_bytes += sum(entry.size_bytes for entry in plan.copy if entry.name in digests)
    return plan


def _apply(candidate: Candidate, plan: Plan, store: Store, meter: Meter) -> dict[str, str]:
    """Copy what is to be copied; the digests of all files."""
    digests = dict(plan.keep)
    for entry in plan.copy:
        digests[entry.name] = add_blob(store.layout, candidate.folder / entry.name, meter.advance)
    return digests
