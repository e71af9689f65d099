"""Local model store: keeps manifests and resolves a reference to a verified folder.

Combines `layout`, `blobs`, `tags` and `snapshots`. Several processes may use one store at once. Reading needs no write
permission once the folders of the models have been built.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model_store import fileio
from model_store.errors import InvalidManifest, MissingFile, UnknownModel
from model_store.local.blobs import blob_sizes, is_digest
from model_store.local.layout import Layout
from model_store.local.snapshots import ensure_folder
from model_store.local.tags import read_tag, tag_names
from model_store.manifest import Manifest, decode_manifest, encode_manifest, revision_of
from model_store.reference import DIGEST_PREFIX, Reference, hex_digits, to_reference

STALE_SECONDS = 24 * 3600.0
"""Seconds after which a temporary file is abandoned: its process has died."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A verified revision and its folder. `tag`: None if the reference was a digest."""

    name: str
    tag: str | None
    revision: str
    folder: Path
    manifest: Manifest
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class Store:
    """The store in the folder `root`, made by the first write. `free_bytes`: reads the free disk space."""

    root: Path
    free_bytes: Callable[[Path], int] = fileio.free_bytes

    @property
    def layout(self) -> Layout:
        return Layout(self.root)

    def resolve(self, reference: Reference | str) -> Revision:
        """Find and verify the revision that a reference stands for now.

        Raises InvalidReference, UnknownModel, a Damaged error if stored files are damaged or missing, and an Unable
        error if the model's folder cannot be built.
        """
        asked = to_reference(reference)
        revision = self.find(asked)
        if revision is None:
            raise UnknownModel(str(asked), self.references())
        manifest = self.manifest(revision)
        if manifest.name != asked.name:
            raise UnknownModel(str(asked), self.references())
        folder = ensure_folder(self.layout, hex_digits(revision), manifest)
        return Revision(asked.name, asked.tag, revision, folder, manifest)

    def find(self, reference: Reference) -> str | None:
        """Find the revision that a reference stands for, not verified; None if there is none. Raises InvalidTag."""
        if reference.tag is not None:
            tag = read_tag(self.layout, reference.name, reference.tag)
            return tag.revision if tag else None
        assert reference.revision is not None
        return reference.revision if self.layout.manifest(hex_digits(reference.revision)).is_file() else None

    def manifest(self, revision: str) -> Manifest:
        """Read the manifest of a revision. Raises MissingFile or InvalidManifest."""
        path = self.layout.manifest(hex_digits(revision))
        try:
            data = path.read_bytes()
        except OSError as error:
            raise MissingFile(f"The manifest of {revision} cannot be read: {error.strerror}. Pull it again.") from error
        if revision_of(data) != revision:
            raise InvalidManifest(f"The manifest {path} is damaged: its digest is {revision_of(data)}. Pull it again.")
        return decode_manifest(data)

    def add_manifest(self, manifest: Manifest) -> str:
        """Store a manifest whose blobs are all stored; returns its revision. An intact manifest is not rewritten."""
        data = encode_manifest(manifest)
        revision = revision_of(data)
        path = self.layout.manifest(hex_digits(revision))
        if not path.is_file() or path.read_bytes() != data:
            with fileio.writing(self.root):
                fileio.write_whole(path, data, self.layout.temporary)
        return revision

    def revisions(self) -> tuple[str, ...]:
        """List all revisions with a manifest, tagged or not, sorted."""
        found = self.layout.manifests.glob("*.json") if self.layout.manifests.is_dir() else ()
        return tuple(sorted(DIGEST_PREFIX + path.stem for path in found if is_digest(path.stem)))

    def stored_at_seconds(self, revision: str) -> float | None:
        """Read when the revision's manifest was written, since 1970; None if it is not here."""
        path = self.layout.manifest(hex_digits(revision))
        return path.stat().st_mtime if path.is_file() else None

    def size_bytes(self) -> int:
        return sum(blob_sizes(self.layout).values())

    def references(self) -> tuple[str, ...]:
        """List every `name@tag` in the store."""
        return tuple(f"{name}@{tag}" for name, tag in tag_names(self.layout))

    def sweep(self, *, older_than_seconds: float = STALE_SECONDS) -> int:
        """Remove temporary files of dead processes; returns their number.

        Age is counted from the last status change: the modification time of a blob is set before its rename.
        """
        limit = time.time() - older_than_seconds
        folder = self.layout.temporary
        with fileio.writing(self.root):
            stale = [path for path in folder.iterdir() if _is_older(path, limit)] if folder.is_dir() else []
            for path in stale:
                fileio.remove(path)
        return len(stale)


def _is_older(path: Path, limit_seconds: float) -> bool:
    """False for a path that was renamed or removed meanwhile."""
    try:
        return path.lstat().st_ctime < limit_seconds
    except FileNotFoundError:
        return False
