"""Verifies a remote manifest: the rules for publishing also hold for pulled models.

Before anything is downloaded, its digest, form, model name and file names are checked. Before it is stored, the files
are scanned as for a publish, which refuses remote code and truncated weights, and must give the same manifest.
"""

from __future__ import annotations

from collections.abc import Iterable

from model_store import fileio
from model_store.contents.allowed_files import manifest_problems
from model_store.contents.scan import scan_folder
from model_store.errors import FolderProblem, InvalidManifest, MissingFile, RefusedFolder
from model_store.local.layout import Layout
from model_store.local.snapshots import build_folder
from model_store.manifest import Manifest, decode_manifest, encode_manifest, revision_of
from model_store.reference import hex_digits
from model_store.remote.base import Remote
from model_store.remote.keys import manifest_key


def read_manifest(remote: Remote, name: str, revision: str) -> Manifest:
    """The manifest of a revision of `name`, verified as far as possible without its files.

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
    if problems := manifest_problems([file.path for file in manifest.files]):
        raise InvalidManifest(f"The manifest {place} is refused: {_sentences(problems)}")
    return manifest


def verify_against_files(layout: Layout, manifest: Manifest) -> None:
    """Raises InvalidManifest unless scanning the manifest's files, which must be stored, gives the same manifest."""
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as folder:
        build_folder(layout, folder, manifest)
        try:
            found = scan_folder(folder)
        except RefusedFolder as error:
            raise InvalidManifest(f"The model '{manifest.name}' is refused: {_sentences(error.problems)}") from error
    digests = {file.path: file.sha256 for file in manifest.files}
    derived = found.manifest(manifest.name, digests, manifest.provenance, manifest.golden)
    if encode_manifest(derived) != encode_manifest(manifest):
        raise InvalidManifest(f"The manifest of '{manifest.name}' does not tell the truth about its files.")


def _sentences(problems: Iterable[FolderProblem]) -> str:
    return " ".join(problem.sentence for problem in problems)
