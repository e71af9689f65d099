"""What a remote manifest says is not believed: the rules for publishing hold for what is pulled, too.

Before anything is fetched: the manifest's digest, its form, its name, and the names of its files. After that, and
before the manifest gets its final name: the files are gathered as for a publish, which refuses remote code and torn
weights, and must give the very same manifest.
"""

from __future__ import annotations

from model_store import fileio
from model_store.contents.allowed_files import pulled_problems
from model_store.contents.scan import gather
from model_store.errors import InvalidManifest, MissingFile, RefusedFolder
from model_store.local.layout import Layout
from model_store.local.snapshots import lay_out
from model_store.manifest import Manifest, decode_manifest, encode_manifest, revision_of
from model_store.reference import hex_digits
from model_store.remote.base import Remote
from model_store.remote.keys import manifest_key


def read_manifest(remote: Remote, name: str, revision: str) -> Manifest:
    """The manifest of a revision of `name`, as far as it can be believed without its files.

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
    if problems := pulled_problems([file.path for file in manifest.files]):
        raise InvalidManifest(f"The manifest {place} is refused: {' '.join(problems)}")
    return manifest


def require_truth(layout: Layout, manifest: Manifest) -> None:
    """Raises InvalidManifest unless the manifest's files, all of which are in the store, are what it says of them."""
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as folder:
        lay_out(layout, folder, manifest)
        try:
            found = gather(folder)
        except RefusedFolder as error:
            raise InvalidManifest(f"The model '{manifest.name}' is refused: {' '.join(error.problems)}") from error
    digests = {file.path: file.sha256 for file in manifest.files}
    told = found.manifest(manifest.name, digests, manifest.provenance, manifest.golden)
    if encode_manifest(told) != encode_manifest(manifest):
        raise InvalidManifest(f"The manifest of '{manifest.name}' does not tell the truth about its files.")
