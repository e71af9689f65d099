"""The models that come with the package: plain folders, served where they are, their manifests computed.

Digests are kept in a receipt in the store, if it can be written to, so that only the first start hashes the files.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from model_store import fileio
from model_store.contents.allowed_files import CONFIG
from model_store.contents.scan import Candidate, gather
from model_store.errors import MissingFile
from model_store.local.layout import Layout
from model_store.local.receipts import Seal, recall, remember, stamp_of
from model_store.local.store import Revision
from model_store.manifest import encode_manifest, revision_of

BUILTIN_ROOT = Path(__file__).parents[1] / "builtin"
BUILTIN_TAG = "stable"
"""The only tag of a built-in model."""


def builtin_names(builtin_root: Path) -> tuple[str, ...]:
    """The models in `builtin_root`, sorted: its folders that have a config.json."""
    return tuple(sorted(path.parent.name for path in builtin_root.glob(f"*/{CONFIG}")))


def builtin_revision(builtin_root: Path, name: str, layout: Layout) -> Revision:
    """The built-in model `name`, which is there. Raises RefusedFolder if its folder is none that could be published."""
    candidate = gather(builtin_root / name)
    manifest = candidate.manifest(name, _digests(candidate, layout))
    revision = revision_of(encode_manifest(manifest))
    return Revision(name, BUILTIN_TAG, revision, candidate.folder, manifest, built_in=True)


def _digests(candidate: Candidate, layout: Layout) -> dict[str, str]:
    """The digest of each file: from the receipt where it vouches for them, else hashed."""
    receipt = layout.folder_receipt(hashlib.sha256(str(candidate.folder.resolve()).encode()).hexdigest())
    before = recall(receipt)
    seals = {entry.name: _seal(candidate.folder / entry.name, before.get(entry.name)) for entry in candidate.files}
    if seals != before:
        remember(receipt, seals, layout.temporary)
    return {name: seal.sha256 for name, seal in seals.items()}


def _seal(path: Path, before: Seal | None) -> Seal:
    stamp = stamp_of(path)
    if stamp is None:
        raise MissingFile(f"The file {path} of a built-in model is missing. Install the package again.")
    return before if before is not None and before.stamp == stamp else Seal(stamp, fileio.hash_file(path))
