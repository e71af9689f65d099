"""The models that come with the package: plain folders, served in place, whose manifests are computed.

Digests are kept in a receipt in the store, if it can be written to, so that only the first start hashes the files. What
a publisher would say beside the folder is in the folder: golden examples in `golden.jsonl`, its origin in
`provenance.json`. Both are optional, and part of the manifest rather than files of it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from model_store import fileio
from model_store.contents.allowed_files import CONFIG
from model_store.contents.golden_examples import read_golden
from model_store.contents.scan import ScannedFolder, scan_folder
from model_store.errors import InvalidManifest, MissingFile
from model_store.local.layout import Layout
from model_store.local.receipts import VerifiedFile, read_receipt, stamp_of, write_receipt
from model_store.local.store import Revision
from model_store.manifest import Provenance, encode_manifest, revision_of

BUILTIN_ROOT = Path(__file__).parents[1] / "builtin"
BUILTIN_TAG = "stable"
"""The only tag of a built-in model."""
GOLDEN = "golden.jsonl"
PROVENANCE = "provenance.json"


def builtin_names(builtin_root: Path) -> tuple[str, ...]:
    """The models in `builtin_root`, sorted: its folders that have a config.json."""
    return tuple(sorted(path.parent.name for path in builtin_root.glob(f"*/{CONFIG}")))


def builtin_revision(builtin_root: Path, name: str, layout: Layout) -> Revision:
    """The revision of the built-in model `name`.

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
    """The digest of each file: from the receipt if it is valid, else hashed."""
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
