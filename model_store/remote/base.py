"""The protocol of a remote store: an object store of keys and bytes, which knows nothing of models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from model_store.fileio import Piece
from model_store.progress import OnBytes


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """An object's properties; `etag` changes when its bytes do."""

    key: str
    size_bytes: int
    etag: str


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
