"""Layout of a local model store: names its paths. Pure: nothing is read or made here.

    <root>/
      blobs/sha256/<hex>             a file of a model, under its digest; read-only; shared by all that contain it
      manifests/sha256/<hex>.json    canonical bytes; <hex> is their digest, the revision
      tags/<name>/<tag>              the revision, since when, and the earlier ones (see model_store.reference)
      models/<hex>/                  the folder to load: hard links to blobs (copies if links are refused)
      receipts/blobs/<hex>.json      digest, size and modification time when verified (see blobs)
      receipts/folders/<hex>.json    receipts of folders outside the store that are served in place
      partial/<hex>, <hex>.journal   a blob that is being downloaded, and its journal (see partial_blob)
      quarantine/<hex>               a download with another digest than <hex>; kept for diagnosis
      temporary/                     unique names; on the same file system, so that every write ends with a rename
      locks/                         advisory locks (see locks)

Invariants: a file under its final name is complete and verified; writes happen in the order blobs, manifest, model
folder, tag, so that a tag never points to a missing revision; deleting requires the lock `contents` exclusively. The
layout of a remote store is in `remote/base.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths below `root`; digests are 64 hex digits."""

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

    def lock(self, name: str) -> Path:
        return self.root / "locks" / name
