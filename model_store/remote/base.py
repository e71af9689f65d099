"""What a remote store can do, whatever it is made of, and which one a URL names. It knows keys and bytes, not models.

`s3://bucket/prefix`: endpoint, region and credentials come from AWS's own variables and files (AWS_ENDPOINT_URL_S3,
AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, …); `s3://bucket/prefix?addressing=path` asks for path-style requests.
`file:///folder`: a folder, for instance on a network disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

from model_store import fileio
from model_store.errors import InvalidRemote

_ADDRESSING = ("path", "virtual", "auto")


@dataclass(frozen=True, slots=True)
class Stat:
    """An object as it is now; `etag` changes when its bytes do."""

    key: str
    size_bytes: int
    etag: str
    modified_at_seconds: float


Piece: TypeAlias = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Opened:
    """A range whose bytes are on their way, and what the answer says of the object that they are of.

    Pieces may share one buffer: use each before asking for the next.
    """

    etag: str
    size_bytes: int
    pieces: Iterator[Piece]


class Remote(Protocol):
    """Keys are relative to the URL. All but `open_range` try again for a while before they give up.

    Everything raises RemoteRefused or RemoteUnavailable.
    """

    @property
    def url(self) -> str:
        """What a person calls it."""

    def stat(self, key: str) -> Stat | None:
        """The object's size and ETag; None if it is not there."""

    def read(self, key: str) -> bytes | None:
        """A small object's bytes; None if it is not there."""

    def open_range(self, key: str, start: int, end: int, etag: str | None) -> AbstractContextManager[Opened]:
        """The bytes [start, end) of the object with this ETag, or with any; fewer if they are cut off. One try.

        Raises RemoteChanged if the object has another ETag now, has no such bytes, or is not there.
        """

    def create(self, key: str, data: bytes) -> bool:
        """Write a small object; false, and nothing is written, if the key exists."""

    def upload(self, key: str, source: Path, advance: fileio.Advance) -> None:
        """Write a file's bytes; readers see all of them or none."""

    def stats(self, prefix: str) -> Iterator[Stat]:
        """All objects below a prefix, sorted by key."""

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no failure."""


def open_remote(url: str) -> Remote:
    """The remote store that a URL names; nothing is asked of it yet. Raises InvalidRemote."""
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.query and not parts.netloc and parts.path.startswith("/"):
        from model_store.remote.folder import FolderRemote

        return FolderRemote(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc:
        from model_store.remote.s3 import S3Remote  # botocore takes a while; who has no bucket does not pay it.

        return S3Remote(parts.netloc, parts.path.strip("/"), _addressing(url, parts.query))
    raise InvalidRemote(f"'{url}' is no remote store: use s3://bucket/prefix or file:///folder.")


def _addressing(url: str, query: str) -> str | None:
    """None leaves it to AWS's configuration files."""
    asked = parse_qs(query, keep_blank_values=True)
    style = asked.pop("addressing", [None])[0]
    if asked or (style is not None and style not in _ADDRESSING):
        raise InvalidRemote(f"'{url}' asks for something unknown: only ?addressing={'|'.join(_ADDRESSING)} is known.")
    return style
