"""Where everything in a local model store has its place. Only paths; nothing is read or made here.

    <root>/
      blobs/sha256/<hex>             a file of a model, under its digest; read-only; shared by all that contain it
      manifests/sha256/<hex>.json    canonical bytes; <hex> is their digest, the revision
      tags/<name>/<tag>              which revision, since when, and which ones before (see tags)
      models/<hex>/                  what a loader opens: hard links to blobs (copies where links are refused)
      receipts/blobs/<hex>.json      what was verified, when, at which size and modification time (see receipts)
      receipts/folders/<hex>.json    the same for a folder outside the store that is served in place
      partial/<hex>, <hex>.journal   a blob that is being fetched, and which of its bytes were verified (see partial)
      quarantine/<hex>               what was fetched under that digest and is something else; kept for whoever asks why
      temporary/                     unique names; on the same disk, so that a rename ends every write
      locks/                         advisory locks (see locks)

Two rules: what stands under a final name is whole and verified; things are written in the order blobs, manifest, model
folder, tag, so that a tag never points to what is not there. `bucket` says
the same of a remote store. Deleting is the task of whoever holds the `contents` lock exclusively.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """The places below `root`; digests are 64 hex digits."""

    root: Path

    @property
    def blobs(self) -> Path:
        return self.root / "blobs" / "sha256"

    @property
    def manifests(self) -> Path:
        return self.root / "manifests" / "sha256"

    @property
    def tags(self) -> Path:
        return self.root / "tags"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def temporary(self) -> Path:
        return self.root / "temporary"

    @property
    def partial(self) -> Path:
        return self.root / "partial"

    @property
    def quarantine(self) -> Path:
        return self.root / "quarantine"

    def blob(self, digest: str) -> Path:
        return self.blobs / digest

    def manifest(self, digest: str) -> Path:
        return self.manifests / f"{digest}.json"

    def tag(self, name: str, tag: str) -> Path:
        return self.tags / name / tag

    def model(self, digest: str) -> Path:
        return self.models / digest

    def blob_receipt(self, digest: str) -> Path:
        return self.root / "receipts" / "blobs" / f"{digest}.json"

    def folder_receipt(self, digest: str) -> Path:
        return self.root / "receipts" / "folders" / f"{digest}.json"

    def lock(self, what: str) -> Path:
        return self.root / "locks" / what
