"""Pull of a revision from a remote store into the local one: downloads only missing files, and verifies all.

    read     the remote tag → its revision → its manifest; stored and partly downloaded blobs, free disk
    plan     keep, fetch, evict
    apply    evict → copy prefetched files → download → verify the manifest against the files → manifest → folder → tag

The local tag follows the remote one, so that a start without the remote store serves the last served revision.

The rules for publishing also hold for pulled models. Before anything is downloaded, a manifest's digest, form, model
name and file names are checked. Before it is stored, the files are scanned as for a publish, which refuses remote code
and truncated weights, and must give the same manifest.

A prefetched folder, for instance in the container's image, is a model's folder, a folder of such folders, or a whole
store. A file of the right name and size is copied and hashed on the way; if its digest is wrong, it is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from model_store import fileio
from model_store.contents.allowed_files import manifest_problems
from model_store.contents.scan import scan_folder
from model_store.errors import (
    Damaged,
    FolderProblem,
    InvalidManifest,
    MissingFile,
    RefusedFolder,
    StoreFull,
    StoreUnwritable,
    UnknownModel,
    Unreadable,
)
from model_store.fileio import OnBytes, Progress, ProgressCounter, no_progress
from model_store.local import locks
from model_store.local.blobs import blob_sizes, commit_blob, has_blob, stamp_of
from model_store.local.garbage_collection import (
    StoredRevision,
    choose_evictions,
    evict_revision,
    freed_bytes,
    remove_orphans,
    stored_revisions,
)
from model_store.local.layout import Layout
from model_store.local.partial_blob import partial_sizes
from model_store.local.snapshots import build_folder, ensure_folder
from model_store.local.store import Revision, Store
from model_store.local.tags import set_tag
from model_store.manifest import File, Manifest, decode_manifest, encode_manifest, revision_of
from model_store.reference import Reference, hex_digits, to_reference
from model_store.remote.base import Remote, manifest_key
from model_store.remote.tags import read_remote_tag
from model_store.transfer.download import DEFAULT_OPTIONS, Download, DownloadOptions


def read_manifest(remote: Remote, name: str, revision: str) -> Manifest:
    """Read the manifest of a revision of `name`, verified as far as possible without its files.

    Raises MissingFile, InvalidManifest, RemoteRefused, RemoteUnavailable.
    """
    place = f"{remote.url}/{manifest_key(hex_digits(revision))}"
    data = remote.read(manifest_key(hex_digits(revision)))
    if data is not None and revision_of(data) != revision:
        data = remote.read(manifest_key(hex_digits(revision)))
    if data is None:
        raise MissingFile(f"The manifest {place} of {name} is not there, so nothing can be pulled. Publish it again.")
    if revision_of(data) != revision:
        raise InvalidManifest(f"The manifest {place} is damaged: its digest is {revision_of(data)}. Publish it again.")
    manifest = decode_manifest(data)
    if manifest.name != name:
        raise InvalidManifest(f"The manifest {place} is one of '{manifest.name}', not of '{name}'.")
    if problems := manifest_problems([file.path for file in manifest.files]):
        raise InvalidManifest(f"The manifest {place} is refused: {_sentences(problems)}")
    return manifest


def verify_against_files(layout: Layout, manifest: Manifest) -> None:
    """Raise InvalidManifest unless scanning the manifest's files, which must be stored, gives the same manifest."""
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as folder:
        build_folder(layout, folder, manifest)
        try:
            found = scan_folder(folder)
        except RefusedFolder as error:
            raise InvalidManifest(f"The model '{manifest.name}' is refused: {_sentences(error.problems)}") from error
    digests = {file.path: file.sha256 for file in manifest.files}
    derived = found.manifest(manifest.name, digests, manifest.provenance, manifest.golden)
    if encode_manifest(derived) != encode_manifest(manifest):
        raise InvalidManifest(f"The manifest of '{manifest.name}' does not tell the truth about its files.")


def _sentences(problems: Iterable[FolderProblem]) -> str:
    return " ".join(problem.sentence for problem in problems)


@dataclass(frozen=True, slots=True)
class PullPlan:
    """Plan of a pull: files to keep and to fetch, revisions to evict, and bytes that would still be missing."""

    keep: tuple[File, ...]
    fetch: tuple[File, ...]
    evict: tuple[str, ...]
    needed_bytes: int
    short_bytes: int


@dataclass(frozen=True, slots=True)
class Disk:
    """State of the disk: stored and partly downloaded blobs (digest → bytes), free and reserved bytes."""

    present: Mapping[str, int]
    begun: Mapping[str, int]
    free_bytes: int
    spare_bytes: int


def plan_pull(manifest: Manifest, disk: Disk, stored: Sequence[StoredRevision]) -> PullPlan:
    """Plan for the files of `manifest`, given the stored revisions that may be evicted."""
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


def copy_prefetched(
    layout: Layout, files: Iterable[File], folders: Sequence[Path], on_bytes: OnBytes
) -> tuple[File, ...]:
    """Copy files from `folders` into the store; returns the copied ones. Raises StoreFull, StoreUnwritable."""
    return tuple(
        file for file in files if any(_copy(layout, file, path, on_bytes) for path in candidate_paths(file, folders))
    )


def candidate_paths(file: File, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield regular files of the same size at the possible places of the file."""
    for folder in folders:
        inner = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()
        for path in (Layout(folder).blob(file.sha256), folder / file.path, *(each / file.path for each in inner)):
            stamp = stamp_of(path)
            if stamp is not None and stamp.size_bytes == file.size_bytes:
                yield path


def _copy(layout: Layout, file: File, source: Path, on_bytes: OnBytes) -> bool:
    """Copy a file into the store; returns False if it is unreadable or has another digest."""
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as name:
        try:
            if fileio.copy_hashed(source, name) != file.sha256:
                return False
        except Unreadable:
            return False
        commit_blob(layout, name, file.sha256)
    on_bytes(file.size_bytes)
    return True


LOCK_TIMEOUT_SECONDS = 3600.0
"""Most seconds of waiting for another process that downloads into the same store."""
OnRevision = Callable[[str], object]
"""Function of a reference's revision, called before anything is downloaded or evicted."""


def ignore_revision(_revision: str) -> None:
    """Ignore the revision (an `OnRevision`)."""


@dataclass(frozen=True, slots=True)
class PullResult:
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
) -> PullResult:
    """Bring the revision that `reference` stands for in the remote store into the local one, verified.

    Files in one of the `prefetched` folders are copied instead of downloaded. `on_revision` lets the caller
    protect the revision from eviction (see `locks.in_use`). Arrived files stay after an error.

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


def _stored(target: Reference, store: Store) -> PullResult | None:
    """Return the revision if it is complete in the store, which then need not be writable."""
    try:
        revision = store.resolve(target)
    except (UnknownModel, Damaged):
        return None
    return PullResult(revision, fetched_bytes=0, kept_bytes=revision.manifest.size_bytes)


@dataclass(frozen=True, slots=True)
class _Pull:
    """The pull of a missing or incomplete revision; `target`: a reference by digest."""

    target: Reference
    store: Store
    remote: Remote
    progress: Progress
    options: DownloadOptions
    prefetched: tuple[Path, ...]

    def run(self) -> PullResult:
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
        return PullResult(revision, fetched_bytes, sum(file.size_bytes for file in (*plan.keep, *copied)), evicted)

    @property
    def _revision(self) -> str:
        assert self.target.revision is not None
        return self.target.revision

    def _evict(self, manifest: Manifest) -> tuple[str, ...]:
        """Evict the planned revisions. Raises StoreFull without evicting if that would not be enough."""
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
