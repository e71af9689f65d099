"""Errors of the model store, as one tree. They know nothing of HTTP or of exit codes.

    StoreError
    ├── InvalidArgument            the caller's request is wrong
    │   ├── InvalidReference    not `name`, `name@tag` or `name@sha256:…`
    │   ├── UnknownModel        a valid reference to something that is not stored; lists the stored ones
    │   ├── RefusedFolder       a model folder that may not be published; every reason at once
    │   ├── InvalidGolden       a file of golden examples that cannot be read
    │   ├── InvalidRemote       not the URL of a remote store
    │   └── NoEarlierRevision      a rollback of a tag that has no earlier revision
    ├── Damaged                 stored data contradicts its name
    │   ├── InvalidManifest
    │   ├── InvalidTag
    │   ├── CorruptFile         a local file whose digest is not that of its name
    │   ├── CorruptObject       a remote object whose digest is not that of its key
    │   └── MissingFile
    └── Unable                  the machine, the network, or a concurrent change
        ├── StoreFull
        ├── StoreUnwritable
        ├── Unreadable          a file cannot be opened, or not read to its end
        ├── StoreBusy
        ├── SourceChanged       a file changed while it was being published
        ├── TagMoved            another publish moved the tag first; nothing was overwritten
        ├── RemoteRefused       credentials, rights, or a missing bucket: retrying does not help
        │   └── KeyRefused          the KMS key of an object may not be used
        ├── RemoteUnavailable   throttled, timed out, disconnected: retrying may help
        └── RemoteChanged       an object was replaced between two requests
            └── ObjectNotFound  an object does not exist

Each carries one sentence for a person in `detail`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class StoreError(Exception):
    """A typed failure; `detail` is one sentence for a person."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class InvalidArgument(StoreError):
    """The request itself is wrong; repeating it gives the same error."""


class InvalidReference(InvalidArgument):
    """The text is not a model reference."""


class UnknownModel(InvalidArgument):
    """Nothing is stored under the reference. `available`: references that would work."""

    def __init__(self, reference: str, available: Sequence[str]) -> None:
        there = ", ".join(available) if available else "no model at all; `gleaner models publish` adds one"
        super().__init__(f"There is no model '{reference}'; there is {there}.")
        self.reference = reference
        self.available = tuple(available)


@dataclass(frozen=True, slots=True)
class FolderProblem:
    """One reason to refuse a model folder: a stable code, and a sentence for a person."""

    code: str
    sentence: str


class RefusedFolder(InvalidArgument):
    """A folder is not a publishable model, for the reasons in `problems`."""

    def __init__(self, folder: str, problems: Sequence[FolderProblem]) -> None:
        sentences = " ".join(problem.sentence for problem in problems)
        super().__init__(f"The folder {folder} cannot be taken as a model: {sentences}")
        self.problems = tuple(problems)


class InvalidGolden(InvalidArgument):
    """A file does not hold valid golden examples."""


class InvalidRemote(InvalidArgument):
    """The text is not the URL of a remote store."""


class NoEarlierRevision(InvalidArgument):
    """The tag has no earlier revision."""


class Damaged(StoreError):
    """Stored data contradicts its name; it is never served."""


class InvalidManifest(Damaged):
    """The bytes are not a manifest, or the manifest contradicts itself or its files."""


class InvalidTag(Damaged):
    """A stored tag cannot be decoded."""


class CorruptFile(Damaged):
    """A file's bytes do not have the expected digest (both digests without `sha256:`)."""

    def __init__(self, path: str, *, wanted: str, found: str) -> None:
        super().__init__(
            f"The file {path} is damaged: its SHA-256 should be {wanted} and is {found}. Publish or pull it again."
        )
        self.path, self.wanted, self.found = path, wanted, found


class CorruptObject(Damaged):
    """A remote object's bytes do not have the digest in its key (both digests without `sha256:`)."""

    def __init__(self, url: str, *, wanted: str, found: str) -> None:
        super().__init__(
            f"The object {url} is damaged: its SHA-256 should be {wanted} and is {found}. It was fetched twice and is "
            "kept in the store's folder `quarantine`. Remove the object and publish the model again."
        )
        self.url, self.wanted, self.found = url, wanted, found


class MissingFile(Damaged):
    """A file or manifest that stored data refers to is missing."""


class Unable(StoreError):
    """The machine, the network or a concurrent change stands in the way; the same request may succeed later."""


class StoreFull(Unable):
    """Too little free disk."""


class StoreUnwritable(Unable):
    """The store's folder cannot be written to."""


class Unreadable(Unable):
    """A file cannot be opened, or not read to its end."""


class StoreBusy(Unable):
    """Waiting for another process's lock timed out."""


class SourceChanged(Unable):
    """A file changed while it was being published."""


class TagMoved(Unable):
    """The tag points to another revision than the caller expected."""


class RemoteRefused(Unable):
    """The remote store rejects the request until its configuration is changed."""


class KeyRefused(RemoteRefused):
    """The KMS key of an object may not be used, or is disabled or gone; `key`: its ARN, if the answer names it."""

    def __init__(self, detail: str, key: str | None) -> None:
        super().__init__(detail)
        self.key = key


class RemoteUnavailable(Unable):
    """The remote store did not answer, or not to the end."""


class RemoteChanged(Unable):
    """A remote object was replaced, removed, or has another size than expected."""


class ObjectNotFound(RemoteChanged):
    """No object has the key."""
