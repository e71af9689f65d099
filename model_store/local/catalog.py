"""Catalog of this machine's models: resolves and lists the local store's revisions and the built-in models.

A built-in model is a plain folder that comes with the package and is served in place; its manifest is computed. Digests
are kept in a receipt in the store, if it can be written to, so that only the first start hashes the files. A
publisher's statements are in the folder: golden examples in `golden.jsonl`, the origin in
`provenance.json`. Both are optional, and part of the manifest rather than files of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from model_store import fileio
from model_store.contents.scan import ScannedFolder, read_golden, scan_folder
from model_store.errors import InvalidManifest, InvalidTag, MissingFile, UnknownModel
from model_store.families.family import CONFIG
from model_store.listing import ListedModel, compare, damaged_tag, find_revision, group_tags
from model_store.local.blobs import VerifiedFile, read_receipt, stamp_of, write_receipt
from model_store.local.layout import Layout
from model_store.local.store import Revision, Store
from model_store.local.tags import read_tag, tag_names
from model_store.manifest import Provenance, encode_manifest, revision_of
from model_store.reference import Reference, to_reference

BUILTIN_ROOT = Path(__file__).parents[1] / "builtin"
BUILTIN_TAG = "stable"
"""The only tag of a built-in model."""
GOLDEN = "golden.jsonl"
PROVENANCE = "provenance.json"


def builtin_names(builtin_root: Path) -> tuple[str, ...]:
    """List the models in `builtin_root`, sorted: its folders with a config.json."""
    return tuple(sorted(path.parent.name for path in builtin_root.glob(f"*/{CONFIG}")))


def builtin_revision(builtin_root: Path, name: str, layout: Layout) -> Revision:
    """Compute the revision of the built-in model `name`.

    Raises RefusedFolder, InvalidGolden or InvalidManifest, as publishing its folder would.
    """
    folder = builtin_root / name
    scanned = scan_folder(folder)
    golden = read_golden(folder / GOLDEN) if (folder / GOLDEN).exists() else ()
    manifest = scanned.manifest(name, _digests(scanned, layout), _provenance(folder), golden)
    revision = revision_of(encode_manifest(manifest))
    return Revision(name, BUILTIN_TAG, revision, scanned.folder, manifest, built_in=True)


def _provenance(folder: Path) -> Provenance | None:
    try:
        return msgspec.json.decode((folder / PROVENANCE).read_bytes(), type=Provenance)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise InvalidManifest(f"{folder / PROVENANCE} cannot be read: {error}.") from error


def _digests(scanned: ScannedFolder, layout: Layout) -> dict[str, str]:
    """Find the digest of each file: in a valid receipt, else by hashing."""
    receipt = layout.folder_receipt(hashlib.sha256(str(scanned.folder.resolve()).encode()).hexdigest())
    before = read_receipt(receipt)
    verified = {entry.name: _verify(scanned.folder / entry.name, before.get(entry.name)) for entry in scanned.files}
    if verified != before:
        write_receipt(receipt, verified, layout.temporary)
    return {name: file.sha256 for name, file in verified.items()}


def _verify(path: Path, before: VerifiedFile | None) -> VerifiedFile:
    stamp = stamp_of(path)
    if stamp is None:
        raise MissingFile(f"The file {path} of a built-in model is missing. Install the package again.")
    return before if before is not None and before.stamp == stamp else VerifiedFile(stamp, fileio.hash_file(path))


def list_local(store: Store, builtin_root: Path) -> tuple[ListedModel, ...]:
    """List every revision in the store, tagged or not, and every built-in model; by name, tagged ones first."""
    return compare([*_stored(store), *_built_in(store, builtin_root)])


def _stored(store: Store) -> Iterator[ListedModel]:
    pointing: list[tuple[str, str, str]] = []
    since: dict[str, float] = {}
    for name, tag in tag_names(store.layout):
        try:
            found = read_tag(store.layout, name, tag)
        except InvalidTag as error:
            yield damaged_tag(name, tag, error.detail)
            continue
        if found:
            pointing.append((name, tag, found.revision))
            since[found.revision] = max(found.moved_at_seconds, since.get(found.revision, 0.0))
    tags = group_tags(pointing)
    for revision in sorted({*store.revisions(), *tags}):
        stamp = since.get(revision) or store.stored_at_seconds(revision)
        yield from find_revision(revision, tags.get(revision, {}), store.manifest, stamp)


def _built_in(store: Store, builtin_root: Path) -> Iterator[ListedModel]:
    """Yield built-in models that are not in the store too; without a tag if one of the store hides theirs."""
    stored, hiding = store.revisions(), set(tag_names(store.layout))
    for name in builtin_names(builtin_root):
        model = builtin_revision(builtin_root, name, store.layout)
        if model.revision not in stored:
            tags = () if (name, BUILTIN_TAG) in hiding else (BUILTIN_TAG,)
            yield ListedModel(name, tags, model.revision, model.manifest, built_in=True)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The local store and the built-in models. A tag in the store hides the same tag of a built-in model."""

    store_root: Path
    builtin_root: Path = BUILTIN_ROOT

    @property
    def store(self) -> Store:
        return Store(self.store_root)

    def resolve(self, reference: Reference | str) -> Revision:
        """Find and verify the revision that a reference stands for.

        Raises UnknownModel, which lists the existing references, and the errors of `Store.resolve`: a revision that
        is damaged in the store is not replaced by a built-in model.
        """
        asked = to_reference(reference)
        if self.store.find(asked) is not None:
            return self.store.resolve(asked)
        if built_in := self._built_in(asked):
            return replace(built_in, tag=asked.tag)
        raise UnknownModel(str(asked), self.references())

    def find(self, asked: Reference) -> str | None:
        """Find the revision that a reference stands for, not verified if it is in the store; None if there is none."""
        if found := self.store.find(asked):
            return found
        built_in = self._built_in(asked)
        return built_in.revision if built_in else None

    def references(self) -> tuple[str, ...]:
        """List every `name@tag` that `resolve` knows, sorted."""
        built_in = {f"{name}@{BUILTIN_TAG}" for name in builtin_names(self.builtin_root)}
        return tuple(sorted(built_in.union(self.store.references())))

    def _built_in(self, asked: Reference) -> Revision | None:
        if asked.name in builtin_names(self.builtin_root):
            built_in = builtin_revision(self.builtin_root, asked.name, self.store.layout)
            if asked.tag == BUILTIN_TAG or asked.revision == built_in.revision:
                return built_in
        return None

    def list(self) -> tuple[ListedModel, ...]:
        return list_local(self.store, self.builtin_root)
