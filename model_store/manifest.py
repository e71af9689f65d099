"""Manifest of a published model: its files and properties as canonical JSON, whose SHA-256 is the revision. Pure.

Invariants:
- Equal content gives equal bytes, and so the same revision, for every publisher and at any time: a manifest holds no
  time (a tag records when it was moved), files are sorted by path, JSON has sorted keys and no white space.
- Only manifests that can be decoded are encoded, and only canonical bytes are decoded.
- A path is relative, made of plain characters, and cannot leave its folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Annotated, Literal

import msgspec

from model_store.errors import InvalidManifest
from model_store.reference import DIGEST_PREFIX

_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_MAX_PATH_CHARACTERS = 200

Size = Annotated[int, msgspec.Meta(ge=0)]
Digest = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9][a-z0-9._-]{0,99}\Z")]
Word = Annotated[str, msgspec.Meta(min_length=1)]
Task = Literal["token-classification", "label-extraction"]
TOKEN_CLASSIFICATION: Task = "token-classification"
LABEL_EXTRACTION: Task = "label-extraction"
"""Task of models without labels of their own: they come with each request."""


class _Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the values: msgspec structs refuse unknown fields and wrong types when decoded."""


class File(_Value, frozen=True):
    """One file of a model. `sha256` is 64 lower-case hex digits."""

    path: Word
    size_bytes: Size
    sha256: Digest


class GoldenEntity(_Value, frozen=True):
    """An expected entity of a golden example; `start` and `end` count code points."""

    label: Word
    start: Size
    end: Size


class GoldenWord(_Value, frozen=True):
    """A word of a page; its box is left, top, right, bottom in the unit of the page's sides."""

    text: Word
    box: tuple[float, float, float, float]


class GoldenPage(_Value, frozen=True):
    """A page of words in reading order, without its picture."""

    width: float
    height: float
    words: tuple[GoldenWord, ...]


class GoldenExample(_Value, frozen=True, omit_defaults=True):
    """A text and exactly the entities that a correct revision finds in it.

    `labels`: labels for a model with free labels. `pages`: the text's words on pages, for a model that sees where they
    stand. Default values are left out, so that older revisions stay the same.
    """

    text: Word
    entities: tuple[GoldenEntity, ...]
    labels: tuple[Word, ...] = ()
    min_score: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    pages: tuple[GoldenPage, ...] = ()


class Provenance(_Value, frozen=True):
    """A model's origin, as stated by its publisher."""

    base_model: str | None = None
    data: str | None = None
    commit: str | None = None


class Manifest(_Value, frozen=True, kw_only=True):
    """A model's files and properties; `labels[i]` is the label of class i."""

    name: Name
    files: Annotated[tuple[File, ...], msgspec.Meta(min_length=1)]
    labels: tuple[Word, ...]
    architecture: Word
    model_type: Word
    max_tokens: Annotated[int, msgspec.Meta(ge=1)]
    provenance: Provenance = Provenance()
    golden: tuple[GoldenExample, ...] = ()
    task: Task = TOKEN_CLASSIFICATION
    format: Literal[1] = 1

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def encode_manifest(manifest: Manifest) -> bytes:
    """Encode a manifest as canonical bytes. Raises InvalidManifest if they could not be decoded again."""
    data = _canonical(manifest)
    _parse(data)
    return data


def decode_manifest(data: bytes) -> Manifest:
    """Decode a manifest from canonical bytes. Raises InvalidManifest, which names the field and the reason."""
    manifest = _parse(data)
    if _canonical(manifest) != data:
        raise InvalidManifest("The manifest is not in canonical form: sorted keys, files by path, no white space.")
    return manifest


def revision_of(data: bytes) -> str:
    """Compute the revision of a manifest's bytes: `sha256:` and 64 hex digits."""
    return DIGEST_PREFIX + hashlib.sha256(data).hexdigest()


def path_problem(path: str) -> str | None:
    """Give the reason why `path` is not allowed in a manifest, as the end of a sentence; None if it is allowed."""
    if len(path) > _MAX_PATH_CHARACTERS:
        return f"is longer than {_MAX_PATH_CHARACTERS} characters"
    if not _PATH.fullmatch(path):
        return "is no plain relative path (letters, digits, '.', '_', '-', no part that starts with '.')"
    return None


def _canonical(manifest: Manifest) -> bytes:
    content = msgspec.to_builtins(manifest)
    content["files"] = sorted(content["files"], key=lambda file: file["path"])
    try:
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidManifest(f"A text in the manifest is no valid Unicode: {error.reason}.") from error


def _parse(data: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidManifest(f"The manifest cannot be read: {error}.") from error
    problem = _contradiction(manifest)
    if problem:
        raise InvalidManifest(f"The manifest of '{manifest.name}' contradicts itself: {problem}.")
    return manifest


def _contradiction(manifest: Manifest) -> str | None:
    for file in manifest.files:
        if problem := path_problem(file.path):
            return f"the path '{file.path}' {problem}"
    if bool(manifest.labels) is not (manifest.task == TOKEN_CLASSIFICATION):
        return f"it has {len(manifest.labels)} labels, and its task is {manifest.task}"
    return _clash(manifest.files) or _repeated_label(manifest.labels) or _bad_golden(manifest)


def _clash(files: tuple[File, ...]) -> str | None:
    """Find two paths that cannot both exist: equal ignoring case, as some file systems do, or one within the other."""
    counts = Counter(file.path.lower() for file in files)
    for path, count in counts.items():
        if count > 1:
            return f"the path '{path}' stands there {count} times"
        folder = path.rpartition("/")[0]
        while folder:
            if folder in counts:
                return f"'{folder}' is both a file and a folder"
            folder = folder.rpartition("/")[0]
    return None


def _repeated_label(labels: tuple[str, ...]) -> str | None:
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    return f"the label '{repeated[0]}' is given to more than one class" if repeated else None


def _bad_golden(manifest: Manifest) -> str | None:
    for number, example in enumerate(manifest.golden, start=1):
        if bool(example.labels) is not (manifest.task == LABEL_EXTRACTION):
            return f"golden example {number} has {len(example.labels)} labels, and the task is {manifest.task}"
        for entity in example.entities:
            if not entity.start < entity.end <= len(example.text):
                return f"golden example {number} has an entity at {entity.start}:{entity.end}, outside its text"
    return None
