"""Protocols of a bulk job's inputs and of the storage of its documents, and a job in a folder.

A job is what is under its output, in a folder or under a prefix of a bucket; there is no database:

    job.json             options and the model's revision, written once
    plan/000001.jsonl    segments of the plan: a chunk a line; written once each, the numbers have no gap
    parts/NAME.jsonl     a chunk's rows; written once
    finished/000001.json the summary of a plan of so many segments, when all its parts are there; written once
    summary.json         the last summary
    _SUCCESS             written last: how many segments it covers

All calls block; call them in a thread.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from service.core.bulk import Item
from service.core.errors import RequestError, ServiceError


class ObjectMissing(RequestError):
    """An input is not there any more."""

    code = "object_missing"
    title = "The input is not there any more"


class ObjectChanged(RequestError):
    """An input is not of the version that was planned; planned again, it is a new one."""

    code = "object_changed"
    title = "The input has changed since it was planned"


class UnreadableFile(RequestError):
    """An input cannot be read, or is no text with an id."""

    code = "unreadable_file"
    title = "The input cannot be read"


class StorageError(ServiceError):
    """The job's storage fails: no input's fault, so its chunk is done later."""

    code = "storage_error"
    title = "The job's storage cannot be read or written"


class JobBusy(StorageError):
    """Another process works on the job."""

    code = "job_busy"
    title = "Another process works on the job"


@dataclass(frozen=True, slots=True)
class Content:
    """The content of an input: a file's bytes, or a text; `name`: its document's id, for a file with its ending."""

    name: str
    data: bytes | str


class Inputs(Protocol):
    """The inputs of a job.

    Attributes:
        names: what `job.json` says of them; a job whose names differ is another job.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    def items(self) -> Iterator[Item]:
        """All inputs, lazily, in an order that is the same each time; the version of each as it is now.

        Raises:
            InvalidOptions: they cannot be listed.
            StorageError: not now.
        """

    def read(self, item: Item) -> Content:
        """An input at its version.

        Raises:
            ObjectMissing, ObjectChanged, UnreadableFile: final.
            StorageError: not now.
        """


class JobStorage(Protocol):
    """The documents of a job by name (`parts/abc.jsonl`). Every write is whole; calls raise StorageError."""

    def names(self, prefix: str) -> Iterator[str]:
        """The names that begin with a prefix, which ends with `/`; in order."""

    def read(self, name: str) -> bytes | None:
        """A document; None if there is none of that name."""

    def put_once(self, name: str, data: bytes) -> bool:
        """Write a document; False, and nothing is written, if the name is taken. One of several racing calls wins."""

    def put(self, name: str, data: bytes) -> None:
        """Write a document in place of one that may be there."""

    def upload(self, name: str, file: Path) -> None:
        """Write a large file of this machine, which is moved or copied."""

    def delete(self, name: str) -> None:
        """Delete a document, if it is there."""


class FolderStorage:
    """A job in a folder of this machine, which is made by the first write.

    A document is written to a temporary name, synced, and linked to its own, which fails if that is taken.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary = folder / ".partial"

    def names(self, prefix: str) -> Iterator[str]:
        top = self._folder / prefix
        for folder, folders, files in os.walk(top):
            folders.sort()
            place = Path(folder).relative_to(self._folder).as_posix()
            yield from (f"{place}/{name}" for name in sorted(files))

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failure(error) from error

    def put_once(self, name: str, data: bytes) -> bool:
        target, temporary = self._folder / name, self._write(data)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                os.link(temporary, target)
                _sync(target.parent)
                return True
        except OSError as error:
            raise self._failure(error) from error
        finally:
            temporary.unlink(missing_ok=True)
        return False

    def put(self, name: str, data: bytes) -> None:
        self.upload(name, self._write(data))

    def upload(self, name: str, file: Path) -> None:
        target, temporary = self._folder / name, self._temporary / uuid4().hex
        try:
            for folder in (target.parent, self._temporary):
                folder.mkdir(parents=True, exist_ok=True)
            shutil.move(file, temporary)  # A copy, where the file is on another disk.
            temporary.replace(target)
            _sync(target.parent)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            raise self._failure(error) from error

    def delete(self, name: str) -> None:
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise self._failure(error) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Work on the job as the only process of this machine, and remove what killed ones left.

        Raises:
            JobBusy: another does.
        """
        with ExitStack() as stack:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                lock = stack.enter_context((self._folder / ".lock").open("wb"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise JobBusy(f"Another process works on the job in {self._folder}.") from None
            except OSError as error:
                raise self._failure(error) from error
            shutil.rmtree(self._temporary, ignore_errors=True)
            stack.callback(shutil.rmtree, self._temporary, ignore_errors=True)
            yield

    def _write(self, data: bytes) -> Path:
        temporary = self._temporary / uuid4().hex
        try:
            temporary.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            raise self._failure(error) from error
        return temporary

    def _failure(self, error: OSError) -> StorageError:
        place = f" ({error.filename})" if error.filename else ""
        return StorageError(f"The job's folder {self._folder} cannot be used: {error.strerror}{place}.")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
