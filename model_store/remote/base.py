"""Protocol of a remote store, an object store of keys and bytes, and the keys of models in it. Nothing is read here.

    <prefix>/
      blobs/sha256/<hex>            a file of a model, under its digest
      manifests/sha256/<hex>.json   canonical bytes; <hex> is their digest, the revision
      tags/<name>/<tag>/<number>    the tag after its <number>-th move (see remote/tags); the highest number is current

Objects are written in the order blobs, manifest, tag. Blobs and manifests never change, so writing one twice is
harmless. A tag's objects are created once, with `If-None-Match: *`, and never overwritten. Other keys are ignored,
among them `claims/…`, which earlier versions wrote before they moved a tag.

Readers need the rights to get objects and to list the bucket; publishers also to put them, and to delete them where a
damaged manifest is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from model_store.fileio import OnBytes, Piece

TAGS = "tags/"
MANIFESTS = "manifests/sha256/"
BLOBS = "blobs/sha256/"

_MANIFEST = re.compile(rf"{MANIFESTS}([0-9a-f]{{64}})\.json")
_TAG = re.compile(rf"{TAGS}([^/]+)/([^/]+)/(\d{{10}})")


def blob_key(digest: str) -> str:
    return BLOBS + digest


def manifest_key(digest: str) -> str:
    return f"{MANIFESTS}{digest}.json"


def tag_prefix(name: str, tag: str) -> str:
    return f"{TAGS}{name}/{tag}/"


def tag_key(name: str, tag: str, number: int) -> str:
    """Ten digits, so that keys sort by number."""
    return f"{tag_prefix(name, tag)}{number:010}"


def manifest_in(key: str) -> str | None:
    """The digest in a manifest's key; None for other keys."""
    return found[1] if (found := _MANIFEST.fullmatch(key)) else None


def tag_in(key: str) -> tuple[str, str, int] | None:
    """Name, tag and number in a tag's key; None for other keys."""
    return (found[1], found[2], int(found[3])) if (found := _TAG.fullmatch(key)) else None


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """An object's properties; `etag` changes when its bytes do. Only S3's listings tell the time of the write."""

    key: str
    size_bytes: int
    etag: str
    written_unix_seconds: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ObjectRange:
    """An open response to a range request: the bytes as they arrive, and ETag and size of the whole object.

    Pieces share one buffer: each is valid until the next is read.
    """

    etag: str
    size_bytes: int
    pieces: Iterator[Piece]


class Remote(Protocol):
    """Keys are relative to the URL. All methods but `open_range` retry by themselves.

    All methods raise RemoteRefused and RemoteUnavailable.
    """

    @property
    def url(self) -> str:
        """The store's URL."""

    def stat(self, key: str) -> ObjectStat | None:
        """The object's size and ETag; None if it does not exist."""

    def read(self, key: str) -> bytes | None:
        """A small object's bytes; None if it does not exist."""

    def open_range(self, key: str, start: int, end: int, etag: str | None) -> AbstractContextManager[ObjectRange]:
        """The bytes [start, end) of the object, fewer if the connection breaks. One try, without retries.

        Raises RemoteChanged if the object is missing or too short, or if `etag` is given and is not its ETag.
        """

    def create(self, key: str, data: bytes) -> bool:
        """Write a small object unless the key exists, atomically; false, and nothing is written, if it exists."""

    def upload(self, key: str, source: Path, on_bytes: OnBytes) -> None:
        """Write a file's bytes as one object, atomically, replacing any object of that key."""

    def stats(self, prefix: str) -> Iterator[ObjectStat]:
        """All objects below a prefix, sorted by key."""

    def delete(self, key: str) -> None:
        """Remove an object; a missing one is not an error."""
