"""Integrity check of the local store: hashes all files again, whatever receipts say, to find disk errors and edits.

A check reports damage and does not raise. Receipts of intact blobs are renewed; those of corrupt blobs are
emptied, so that no later start trusts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from model_store import fileio
from model_store.errors import Damaged, InvalidTag, Unreadable
from model_store.fileio import OnBytes, ignore_bytes
from model_store.local.blobs import VerifiedFile, blob_sizes, stamp_of, write_receipt
from model_store.local.layout import Layout
from model_store.local.store import Revision, Store
from model_store.local.tags import read_tag, tag_names
from model_store.manifest import Manifest
from model_store.reference import hex_digits


class CheckOutcome(Enum):
    OK = "ok"
    MISSING = "missing"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The check of one file. `wanted`, `found`: digests as hex digits, if digests were compared."""

    path: Path
    outcome: CheckOutcome
    detail: str = ""
    wanted: str | None = None
    found: str | None = None


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """All checks, in order."""

    checked: tuple[FileCheck, ...]

    @property
    def intact(self) -> bool:
        return all(item.outcome is CheckOutcome.OK for item in self.checked)

    def with_outcome(self, outcome: CheckOutcome) -> tuple[FileCheck, ...]:
        return tuple(item for item in self.checked if item.outcome is outcome)


def verify_revision(revision: Revision, on_bytes: OnBytes = ignore_bytes) -> IntegrityReport:
    """Hash every file of a revision's folder, also of a built-in model."""
    return IntegrityReport(tuple(_check_folder(revision.folder, revision.manifest, on_bytes)))


def verify_store(store: Store, on_bytes: OnBytes = ignore_bytes) -> IntegrityReport:
    """Hash all manifests, the blobs that they name and the folders; check that each tag points to a manifest."""
    layout = store.layout
    checked: list[FileCheck] = []
    manifests = _read_manifests(store, checked)
    needed = {file.sha256 for manifest in manifests.values() for file in manifest.files}
    checked += [_check_blob(layout, digest, on_bytes) for digest in sorted(needed | blob_sizes(layout).keys())]
    for digest, manifest in manifests.items():
        if layout.model(digest).exists():
            checked += _check_folder(layout.model(digest), manifest, on_bytes, blobs=layout)
    checked += _check_tags(store)
    return IntegrityReport(tuple(checked))


def _read_manifests(store: Store, checked: list[FileCheck]) -> dict[str, Manifest]:
    found = {}
    for revision in store.revisions():
        digest = hex_digits(revision)
        path = store.layout.manifest(digest)
        try:
            found[digest] = store.manifest(revision)
        except Damaged as error:
            checked.append(FileCheck(path, CheckOutcome.CORRUPT, error.detail))
        else:
            checked.append(FileCheck(path, CheckOutcome.OK, wanted=digest, found=digest))
    return found


def _check_tags(store: Store) -> Iterator[FileCheck]:
    for name, tag in tag_names(store.layout):
        path = store.layout.tag(name, tag)
        try:
            found = read_tag(store.layout, name, tag)
        except InvalidTag as error:
            yield FileCheck(path, CheckOutcome.CORRUPT, error.detail)
            continue
        if found and not store.layout.manifest(hex_digits(found.revision)).is_file():
            yield FileCheck(path, CheckOutcome.MISSING, f"{name}@{tag} points to {found.revision}, which is not there.")
        else:
            yield FileCheck(path, CheckOutcome.OK)


def _check_blob(layout: Layout, digest: str, on_bytes: OnBytes) -> FileCheck:
    path, receipt = layout.blob(digest), layout.blob_receipt(digest)
    stamp = stamp_of(path)
    checked = _check_file(path, digest, on_bytes)
    if checked.outcome is CheckOutcome.OK and stamp is not None:
        write_receipt(receipt, {digest: VerifiedFile(stamp, digest)}, layout.temporary)
    elif checked.outcome is CheckOutcome.CORRUPT:
        write_receipt(receipt, {}, layout.temporary)
    return checked


def _check_folder(
    folder: Path, manifest: Manifest, on_bytes: OnBytes, blobs: Layout | None = None
) -> Iterator[FileCheck]:
    """Check the files of a folder; links to `blobs` are skipped, because blobs are checked on their own."""
    for file in manifest.files:
        path = folder / file.path
        if blobs is None or not _same_file(path, blobs.blob(file.sha256)):
            yield _check_file(path, file.sha256, on_bytes)


def _same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False


def _check_file(path: Path, digest: str, on_bytes: OnBytes) -> FileCheck:
    if stamp_of(path) is None:
        return FileCheck(path, CheckOutcome.MISSING, f"The file {path} is missing.", wanted=digest)
    try:
        found = fileio.hash_file(path, on_bytes)
    except Unreadable as error:
        return FileCheck(path, CheckOutcome.CORRUPT, error.detail, wanted=digest)
    if found != digest:
        detail = f"The file {path} is damaged: its SHA-256 should be {digest} and is {found}."
        return FileCheck(path, CheckOutcome.CORRUPT, detail, digest, found)
    return FileCheck(path, CheckOutcome.OK, wanted=digest, found=found)
