"""Every failure of the model store that a person may see, as one tree; it knows nothing of HTTP or exit codes.

    StoreError
    ├── AskedWrongly            the person who typed it can mend it
    │   ├── InvalidReference    not `name`, `name@tag` or `name@sha256:…`
    │   ├── UnknownModel        well written, but nothing is there; lists what is
    │   ├── RefusedFolder       a model folder that may not be published; every reason at once
    │   ├── InvalidGolden       a file of golden examples that cannot be read
    │   ├── InvalidRemote       no URL of a remote store
    │   └── NothingEarlier      a tag that has no earlier revision to go back to
    ├── Damaged                 what is stored is not what it says
    │   ├── InvalidManifest
    │   ├── InvalidTag
    │   ├── CorruptFile         names wanted and found digest
    │   ├── CorruptObject       the same of an object in a remote store
    │   └── MissingFile
    └── Unable                  the machine, or somebody else's work at the same moment
        ├── StoreFull
        ├── StoreUnwritable
        ├── Unreadable          a file that is there, or was a moment ago, cannot be read
        ├── StoreBusy
        ├── SourceChanged       a file changed while it was being published
        ├── TagMoved            another publish was faster; nothing was overwritten
        ├── RemoteRefused       credentials, rights, or a bucket that is not there: somebody has to mend it
        ├── RemoteUnavailable   throttled, timed out, cut off: worth another try
        └── RemoteChanged       an object is not the one that was looked at a moment ago

Each carries one helpful sentence in `detail`.
"""

from __future__ import annotations

from collections.abc import Sequence


class StoreError(Exception):
    """A typed failure with one helpful sentence (`detail`)."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class AskedWrongly(StoreError):
    """Whoever asked can mend it; asking the same again gives the same answer."""


class InvalidReference(AskedWrongly):
    """The text is no model reference."""


class UnknownModel(AskedWrongly):
    """Nothing is stored under the reference. `available` holds the references that would work."""

    def __init__(self, reference: str, available: Sequence[str]) -> None:
        there = ", ".join(available) if available else "no model at all; `gleaner models publish` adds one"
        super().__init__(f"There is no model '{reference}'; there is {there}.")
        self.reference = reference
        self.available = tuple(available)


class RefusedFolder(AskedWrongly):
    """A folder that is no publishable model. `problems` holds one sentence for each reason."""

    def __init__(self, folder: str, problems: Sequence[str]) -> None:
        super().__init__(f"The folder {folder} cannot be taken as a model: {' '.join(problems)}")
        self.problems = tuple(problems)


class InvalidGolden(AskedWrongly):
    """Golden examples that are not what they must be."""


class InvalidRemote(AskedWrongly):
    """The text is no URL of a remote store."""


class NothingEarlier(AskedWrongly):
    """A tag never pointed anywhere else."""


class Damaged(StoreError):
    """Something stored is not what its name says; it is never served."""


class InvalidManifest(Damaged):
    """Bytes that are no manifest, or a manifest that contradicts itself."""


class InvalidTag(Damaged):
    """A tag file that cannot be read."""


class CorruptFile(Damaged):
    """A file whose bytes do not have the digest under which it is known (both without `sha256:`)."""

    def __init__(self, path: str, *, wanted: str, found: str) -> None:
        super().__init__(
            f"The file {path} is damaged: its SHA-256 should be {wanted} and is {found}. Publish or pull it again."
        )
        self.path, self.wanted, self.found = path, wanted, found


class CorruptObject(Damaged):
    """An object of a remote store that is not what its name says (both digests without `sha256:`)."""

    def __init__(self, url: str, *, wanted: str, found: str) -> None:
        super().__init__(
            f"The object {url} is damaged: its SHA-256 should be {wanted} and is {found}. It was fetched twice and is "
            "kept in the store's folder `quarantine`. Remove the object and publish the model again."
        )
        self.url, self.wanted, self.found = url, wanted, found


class MissingFile(Damaged):
    """A file or manifest that something stored relies on is not there."""


class Unable(StoreError):
    """The machine, or somebody else's work at the same moment; the same may succeed later."""


class StoreFull(Unable):
    """Too little free disk."""


class StoreUnwritable(Unable):
    """The store's folder cannot be written to."""


class Unreadable(Unable):
    """A file cannot be read, or not to its end."""


class StoreBusy(Unable):
    """Another process kept a lock for too long."""


class SourceChanged(Unable):
    """A file changed while it was being published."""


class TagMoved(Unable):
    """The tag no longer points where the caller believed."""


class RemoteRefused(Unable):
    """The remote store says no, and will go on saying so until somebody mends it."""


class RemoteUnavailable(Unable):
    """The remote store did not answer, or not to the end."""


class RemoteChanged(Unable):
    """An object was replaced, or is shorter than it was said to be."""
