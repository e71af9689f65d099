"""Bulk jobs in S3: the objects below a prefix as inputs, and a job's documents below another.

Requests, retries and credentials are those of the model store (`model_store/remote`). A part is written by a put with
`If-None-Match: *`, and an input is read with `If-Match` of the ETag that was listed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model_store.errors import KeyRefused, ObjectNotFound, RemoteChanged, RemoteRefused, StoreError
from model_store.remote.s3 import S3Remote
from service.bulk.inputs import MOST_BYTES
from service.bulk.storage import (
    Content,
    ObjectChanged,
    ObjectMissing,
    StorageError,
    UnreadableFile,
)
from service.core.bulk import Item
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, RequestError

SCHEME = "s3://"


class AccessDenied(RequestError):
    """An input may not be read with these credentials."""

    code = "access_denied"
    title = "The input may not be read"


class KeyDenied(RequestError):
    """An input is encrypted with a KMS key that may not be used with these credentials, or is disabled or gone."""

    code = "key_denied"
    title = "The input's KMS key may not be used"


_REFUSED: dict[str, tuple[type[GleanerError], str]] = {
    "AccessDenied": (AccessDenied, "The object may not be read with the worker's credentials."),
    "InvalidObjectState": (UnreadableFile, "The object is archived."),
}
"""S3's code of a refusal that is about one object, not about all → what its row says, whichever worker asked."""


@dataclass(frozen=True, slots=True)
class S3Place:
    """A bucket, and a prefix without slashes at its ends."""

    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}"

    def holds(self, other: S3Place) -> bool:
        """True if the other is this place or below it."""
        inside = not self.prefix or f"{other.prefix}/".startswith(f"{self.prefix}/")
        return self.bucket == other.bucket and inside


def place_of(url: str) -> S3Place:
    """The place that `s3://bucket/prefix/` names.

    Raises:
        InvalidOptions: it is no such URL.
    """
    bucket, _, prefix = url.removeprefix(SCHEME).partition("/")
    if not url.startswith(SCHEME) or not bucket:
        raise InvalidOptions(f"{url} is not s3://bucket/prefix/.")
    return S3Place(bucket, prefix.strip("/"))


@contextmanager
def _as_storage_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise StorageError(error.detail) from error


class S3Storage:
    """A job's documents as objects below a prefix."""

    def __init__(self, place: S3Place) -> None:
        self._remote = S3Remote(place.bucket, place.prefix)

    def names(self, prefix: str) -> Iterator[str]:
        """Names in order; a page of 1,000 is fetched when it is needed."""
        with _as_storage_errors():
            yield from (stat.key for stat in self._remote.stats(prefix))

    def written(self, prefix: str) -> Iterator[tuple[str, float]]:
        """As `names`, with the time of each write in Unix seconds."""
        with _as_storage_errors():
            for stat in self._remote.stats(prefix):
                yield stat.key, stat.written_unix_seconds or 0.0

    def read(self, name: str) -> bytes | None:
        with _as_storage_errors():
            return self._remote.read(name)

    def put_once(self, name: str, data: bytes) -> bool:
        """Write unless the name is taken; True also if another wrote the same bytes, as after a lost answer."""
        with _as_storage_errors():
            return self._remote.create(name, data)

    def put(self, name: str, data: bytes) -> None:
        with _as_storage_errors():
            self._remote.put(name, data)

    def upload(self, name: str, file: Path) -> None:
        """Write a file in parts, several at a time."""
        with _as_storage_errors():
            self._remote.upload(name, file, lambda _bytes: None)

    def delete(self, name: str) -> None:
        with _as_storage_errors():
            self._remote.delete(name)


class S3Inputs:
    """The objects below a prefix, or one object; keys are whole keys of the bucket, versions are ETags.

    Raises:
        InvalidOptions: the URL is not one of S3.
    """

    def __init__(self, url: str) -> None:
        self._place = place_of(url)
        self._remote = S3Remote(self._place.bucket, "")
        ending = "/" if url.endswith("/") and self._place.prefix else ""
        self._listed = self._place.prefix + ending  # Rights to list may be those to `prefix/*`.

    @property
    def names(self) -> tuple[str, ...]:
        return (str(self._place),)

    def items(self) -> Iterator[Item]:
        """All objects but the empty ones that stand for folders."""
        try:
            for stat in self._remote.stats(self._listed):
                item = Item(stat.key, stat.etag.strip('"'), stat.size_bytes)
                if self.takes(self._place.bucket, item):
                    yield item
        except StoreError as error:
            kind = InvalidOptions if _code(error) == "NoSuchBucket" else StorageError
            raise kind(error.detail) from error

    def takes(self, bucket: str, item: Item) -> bool:
        """True for an object that is an input."""
        is_folder = item.key.endswith("/") and not item.size_bytes
        return not is_folder and self._place.holds(S3Place(bucket, item.key))

    def read(self, item: Item) -> Content:
        """Read an object.

        Raises:
            AccessDenied, KeyDenied: the object may not be read, or not be decrypted.
        """
        if not self.takes(self._place.bucket, item):  # A job that others made may name any key.
            raise UnreadableFile("The object is no input of the job.")
        name = posixpath.basename(item.key.rstrip("/"))
        if item.size_bytes > MOST_BYTES:
            raise DocumentTooLarge(f"The object has more than {MOST_BYTES >> 20} MiB.")
        if not item.size_bytes:
            return Content(name, b"")
        try:
            with self._remote.open_range(item.key, 0, item.size_bytes, f'"{item.version}"') as found:
                return Content(name, b"".join(map(bytes, found.pieces)))
        except ObjectNotFound:
            raise ObjectMissing("The object is not there any more.") from None
        except RemoteChanged:
            raise ObjectChanged("The object has changed since it was planned; `start` plans it again.") from None
        except KeyRefused as error:
            key = error.key or "that it is encrypted with"
            raise KeyDenied(f"The KMS key {key} may not be used by the worker, or is disabled or gone.") from error
        except RemoteRefused as error:
            kind, said = _REFUSED.get(_code(error), (StorageError, error.detail))
            raise kind(said) from error
        except StoreError as error:
            raise StorageError(error.detail) from error


def _code(error: StoreError) -> str:
    """S3's code of a failure; empty without an answer."""
    answer = getattr(error.__cause__, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", ""))
