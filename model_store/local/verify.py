"""Hashing everything again, whatever the receipts say: for disks that rot, and for whoever wants to be sure.

A check never raises for what it finds, it says so. Receipts follow: those of sound blobs are renewed, those of corrupt
ones are removed, so that no later start trusts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from model_store import fileio
from model_store.errors import Damaged, InvalidTag, Unreadable
from model_store.local.blobs import blob_sizes
from model_store.local.layout import Layout
from model_store.local.receipts import Seal, remember, stamp_of
from model_store.local.store import Revision, Store
from model_store.local.tags import read_tag, tag_names
from model_store.manifest import Manifest
from model_store.reference import hex_digits


class Outcome(Enum):
    OK = "ok"
    MISSING = "missing"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at. `wanted` and `found` are digests as hex digits, where digests were compared."""

    path: Path
    outcome: Outcome
    detail: str = ""
    wanted: str | None = None
    found: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was looked at, in order."""

    checked: tuple[Checked, ...]

    @property
    def sound(self) -> bool:
        return all(item.outcome is Outcome.OK for item in self.checked)

    def having(self, outcome: Outcome) -> tuple[Checked, ...]:
        return tuple(item for item in self.checked if item.outcome is outcome)


def verify_revision(revision: Revision, advance: fileio.Advance = fileio.ignore) -> Report:
    """Hash every file of the folder that is served. Works for built-in models too."""
    return Report(tuple(_check_folder(revision.folder, revision.manifest, advance)))


def verify_store(store: Store, advance: fileio.Advance = fileio.ignore) -> Report:
    """Hash all manifests, all blobs that they name, all folders, and see that tags point to what is there."""
    layout = store.layout
    checked: list[Checked] = []
    manifests = _read_manifests(store, checked)
    needed = {file.sha256 for manifest in manifests.values() for file in manifest.files}
    checked += [_check_blob(layout, digest, advance) for digest in sorted(needed | blob_sizes(layout).keys())]
    for digest, manifest in manifests.items():
        if layout.model(digest).exists():
            checked += _check_folder(layout.model(digest), manifest, advance, blobs=layout)
    checked += _check_tags(store)
    return Report(tuple(checked))


def _read_manifests(store: Store, checked: list[Checked]) -> dict[str, Manifest]:
    found = {}
    for revision in store.revisions():
        digest = hex_digits(revision)
        path = store.layout.manifest(digest)
        try:
            found[digest] = store.manifest(revision)
        except Damaged as error:
            checked.append(Checked(path, Outcome.CORRUPT, error.detail))
        else:
            checked.append(Checked(path, Outcome.OK, wanted=digest, found=digest))
    return found


def _check_tags(store: Store) -> Iterator[Checked]:
    for name, tag in tag_names(store.layout):
        path = store.layout.tag(name, tag)
        try:
            found = read_tag(store.layout, name, tag)
        except InvalidTag as error:
            yield Checked(path, Outcome.CORRUPT, error.detail)
            continue
        if found and not store.layout.manifest(hex_digits(found.revision)).is_file():
            yield Checked(path, Outcome.MISSING, f"{name}@{tag} points to {found.revision}, which is not there.")
        else:
            yield Checked(path, Outcome.OK)


def _check_blob(layout: Layout, digest: str, advance: fileio.Advance) -> Checked:
    path, receipt = layout.blob(digest), layout.blob_receipt(digest)
    stamp = stamp_of(path)
    checked = _check_file(path, digest, advance)
    if checked.outcome is Outcome.OK and stamp is not None:
        remember(receipt, {digest: Seal(stamp, digest)}, layout.temporary)
    elif checked.outcome is Outcome.CORRUPT:
        remember(receipt, {}, layout.temporary)
    return checked


def _check_folder(
    folder: Path, manifest: Manifest, advance: fileio.Advance, blobs: Layout | None = None
) -> Iterator[Checked]:
    """Files that are links to `blobs`, which are hashed by themselves, are passed over."""
    for file in manifest.files:
        path = folder / file.path
        if blobs is None or not _same_file(path, blobs.blob(file.sha256)):
            yield _check_file(path, file.sha256, advance)


def _same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False


def _check_file(path: Path, digest: str, advance: fileio.Advance) -> Checked:
    if stamp_of(path) is None:
        return Checked(path, Outcome.MISSING, f"The file {path} is missing.", wanted=digest)
    try:
        found = fileio.hash_file(path, advance)
    except Unreadable as error:
        return Checked(path, Outcome.CORRUPT, error.detail, wanted=digest)
    if found != digest:
        detail = f"The file {path} is damaged: its SHA-256 should be {digest} and is {found}."
        return Checked(path, Outcome.CORRUPT, detail, digest, found)
    return Checked(path, Outcome.OK, wanted=digest, found=found)
