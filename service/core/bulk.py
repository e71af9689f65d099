"""Bulk jobs: inputs in chunks, the name of a chunk's part, rows, and a job's progress. Pure.

The rule that gives exactly one row for each input:

- A job's plan is a list of chunks that only grows; planned again, an input of an unchanged version is not planned anew.
- A chunk's part has a name that follows from its inputs, the job's options and the model's revision.
- A part is written whole, by a write that fails if the name is taken; the chunk's message is deleted after it.
- Of the rows of one key, that of the last chunk in the plan counts: a changed file, or one that is tried again.

So a chunk that is delivered twice, taken over from a worker that died, or sent again leaves the same one part.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CHUNK_FILES = 50
CHUNK_BYTES = 64 << 20
"""Files or bytes at which a chunk ends, whichever comes first; a larger file is a chunk of its own."""
NAME_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Item:
    """One input of a job.

    Attributes:
        key: its name within the job's input: an object's key, a path, or a file's name with a line's id.
        version: an object's ETag, or a file's size and time of change; it changes with the content.
    """

    key: str
    version: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Inputs that are worked on together; their rows are one part.

    Attributes:
        attempt: 0; greater when failed inputs are tried again, so that the part has another name.
    """

    items: tuple[Item, ...]
    attempt: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(item.size_bytes for item in self.items)


@dataclass(frozen=True, slots=True)
class BulkJob:
    """The question that a job puts to all its inputs.

    Attributes:
        model: `name@sha256:…`: one revision for the whole job.
        options: the others of `/extract`, as JSON values.
    """

    model: str
    options: Mapping[str, Any]


def chunks_of(
    items: Iterable[Item], files: int = CHUNK_FILES, size_bytes: int = CHUNK_BYTES, *, attempt: int = 0
) -> Iterator[Chunk]:
    """Cut inputs, in order, into chunks of at most `files` files and `size_bytes`; a larger file is a chunk alone."""
    pending: list[Item] = []
    size = 0
    for item in items:
        if pending and (len(pending) >= files or size + item.size_bytes > size_bytes):
            yield Chunk(tuple(pending), attempt)
            pending, size = [], 0
        pending.append(item)
        size += item.size_bytes
    if pending:
        yield Chunk(tuple(pending), attempt)


def part_name(chunk: Chunk, job: BulkJob) -> str:
    """The name of the chunk's part, without an ending."""
    what: list[Any] = [[[item.key, item.version] for item in chunk.items], dict(job.options), job.model]
    if chunk.attempt:
        what.append(chunk.attempt)
    text = json.dumps(what, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_DIGITS]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


class PlannedKeys:
    """The last planned version of each key, as digests: about 200 bytes of memory a key."""

    def __init__(self) -> None:
        self._versions: dict[bytes, bytes] = {}

    def add(self, item: Item) -> bool:
        """Take an input into the plan; False if this version of its key was the last that was planned."""
        key, version = _digest(item.key), _digest(item.version)[:8]
        if self._versions.get(key) == version:
            return False
        self._versions[key] = version
        return True


def unplanned(items: Iterable[Item], planned: PlannedKeys) -> Iterator[Item]:
    """Yield the inputs that the plan lacks, and add them to `planned`."""
    return (item for item in items if planned.add(item))


class NewestRows:
    """The rows of a plan that count: the last one of each key. About 160 bytes of memory a key."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._last: dict[bytes, int] = {}
        self.rows = 0
        for chunk in chunks:
            for item in chunk.items:
                self._last[_digest(item.key)] = self.rows
                self.rows += 1

    @property
    def keys(self) -> int:
        """Number of distinct keys, and so of rows that count."""
        return len(self._last)

    def counts(self, item: Item, number: int) -> bool:
        """True if no row after this one, the `number`-th from 0 and that of `item`, has the same key."""
        return self._last[_digest(item.key)] == number


def unfinished(chunks: Iterable[tuple[Chunk, bool]]) -> set[int]:
    """Find the numbers, from 0, of a plan's chunks whose part is missing and has a row that counts.

    A chunk whose every input is in a later chunk, because it was tried again, is done without its part.
    Memory: about 200 bytes for each key of chunks without a part.

    Args:
        chunks: in the plan's order, each with whether its part is written.
    """
    last: dict[bytes, int] = {}
    missing: dict[int, list[bytes]] = {}
    for number, (chunk, is_written) in enumerate(chunks):
        keys = [_digest(item.key) for item in chunk.items]
        last.update((key, number) for key in keys if not is_written or key in last)
        if not is_written:
            missing[number] = keys
    return {number for number, keys in missing.items() if any(last[key] == number for key in keys)}


def row(
    item: Item, *, model: str, sha256: str | None = None, document: Any = None, error: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Make an input's row: its answer, or the error in its place. Equal answers give equal rows.

    Args:
        sha256: digest of its bytes; None if they could not be read.
        document: the answer of `/extract`.
        error: `code` and `detail`; by default the document's own error.
    """
    found = error or (document or {}).get("error")
    return {
        "key": item.key,
        "version": item.version,
        "bytes": item.size_bytes,
        "sha256": sha256,
        "model": model,
        "document": None if found else document,
        "error": {"code": found["code"], "detail": found["detail"]} if found else None,
    }


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a job's files.

    Attributes:
        done: files whose part is written, of `files`.
        begun_with: files that were done when this run began.
        seconds: time since then.
    """

    files: int
    done: int
    begun_with: int
    seconds: float

    @property
    def files_a_second(self) -> float | None:
        """Rate of this run alone; None before its first part."""
        new = self.done - self.begun_with
        return new / self.seconds if new and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at this rate; None before the first part."""
        rate = self.files_a_second
        return None if rate is None else (self.files - self.done) / rate

    def dollars(self, dollars_an_hour: float) -> float:
        """Cost of this run so far, at the price of its machines."""
        return self.seconds / 3600 * dollars_an_hour
