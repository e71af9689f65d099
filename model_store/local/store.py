"""The local model store: manifests, and the way from a reference to a folder that may be loaded.

`layout` says where things are, `blobs`, `tags` and `folders` keep them; this file puts them together. Several processes
may use one store at once. Reading needs no right to write, as long as the folders of the models have been built.
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
from model_store.reference import DIGEST_PREFIX, Reference, hex_digits, parse_reference

STALE_SECONDS = 24 * 3600.0
"""Age at which a temporary file belongs to nobody any more."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a reference stands for: a whole, verified folder. `tag` is None if the reference was a digest."""

    name: str
    tag: str | None
    revision: str
    folder: Path
    manifest: Manifest
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class Store:
    """The store in the folder `root`, which is made by the first write. `free_bytes` tells the free disk space."""

    root: Path
    free_bytes: Callable[[Path], int] = fileio.free_bytes

    @property
    def layout(self) -> Layout:
        return Layout(self.root)

    def resolve(self, reference: Reference | str) -> Revision:
        """The revision that a reference stands for now, whole and verified.

        Raises InvalidReference, UnknownModel, a Damaged error for what is stored wrongly, and an Unable error if the
        model's folder has to be built and cannot be.
        """
        asked = parse_reference(reference) if isinstance(reference, str) else reference
        revision = self.find(asked)
        if revision is None:
            raise UnknownModel(str(asked), self.references())
        manifest = self.manifest(revision)
        if manifest.name != asked.name:
            raise UnknownModel(str(asked), self.references())
        folder = ensure_folder(self.layout, hex_digits(revision), manifest)
        return Revision(asked.name, asked.tag, revision, folder, manifest)

    def find(self, reference: Reference) -> str | None:
        """The revision to which a reference leads, unverified; None if it leads nowhere. Raises InvalidTag."""
        if reference.tag is not None:
            tag = read_tag(self.layout, reference.name, reference.tag)
            return tag.revision if tag else None
        assert reference.revision is not None
        return reference.revision if self.layout.manifest(hex_digits(reference.revision)).is_file() else None

    def manifest(self, revision: str) -> Manifest:
        """The manifest of a revision. Raises MissingFile or InvalidManifest."""
        path = self.layout.manifest(hex_digits(revision))
        try:
            data = path.read_bytes()
        except OSError as error:
            raise MissingFile(f"The manifest of {revision} cannot be read: {error.strerror}. Pull it again.") from error
        if revision_of(data) != revision:
            raise InvalidManifest(f"The manifest {path} is damaged: its digest is {revision_of(data)}. Pull it again.")
        return decode_manifest(data)

    def add_manifest(self, manifest: Manifest) -> str:
        """Store a manifest, all of whose blobs are there; its revision. A manifest that is there is not touched."""
        data = encode_manifest(manifest)
        revision = revision_of(data)
        path = self.layout.manifest(hex_digits(revision))
        if not path.is_file() or path.read_bytes() != data:
            with fileio.writing(self.root):
                fileio.write_whole(path, data, self.layout.temporary)
        return revision

    def revisions(self) -> tuple[str, ...]:
        """All revisions whose manifests are there, tagged or not, sorted."""
        found = self.layout.manifests.glob("*.json") if self.layout.manifests.is_dir() else ()
        return tuple(sorted(DIGEST_PREFIX + path.stem for path in found if is_digest(path.stem)))

    def size_bytes(self) -> int:
        """How many bytes the blobs take."""
        return sum(blob_sizes(self.layout).values())

    def references(self) -> tuple[str, ...]:
        """Every `name@tag` that is there."""
        return tuple(f"{name}@{tag}" for name, tag in tag_names(self.layout))

    def sweep(self, *, older_than_seconds: float = STALE_SECONDS) -> int:
        """Remove temporary files that a process left behind when it died; how many.

        Age is counted from the last change of status, since modification times are sealed before the last rename.
        """
        limit = time.time() - older_than_seconds
        folder = self.layout.temporary
        with fileio.writing(self.root):
            stale = [path for path in folder.iterdir() if _is_older(path, limit)] if folder.is_dir() else []
            for path in stale:
                fileio.remove(path)
        return len(stale)


def _is_older(path: Path, limit_seconds: float) -> bool:
    """False for what its owner has renamed or removed meanwhile."""
    try:
        return path.lstat().st_ctime < limit_seconds
    except FileNotFoundError:
        return False
