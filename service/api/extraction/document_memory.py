"""The memory of long documents: what they will take of the worker until they are answered, reserved before it is taken.

A document's text and tokens take little; the scores of its tokens, a number for each label, take nearly all, and come
only when the engine has done the work. So they are reserved while it is tokenized, against what the host, or the
container, has free: what does not fit is refused then, before it costs anything, rather than the worker killed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from service.core.errors import InsufficientMemory, QueueFull

LONG_TOKENS = 65_536
"""Shorter documents are not looked at; they take some 50 MB at most."""
SHARE = 1 / 2
"""Of the free memory, what the long documents of one worker may take."""
RETRY_SECONDS = 5.0
_BYTES_A_SCORE = 8
"""Four, twice: of all tokens, and of the first tokens of words."""
_BYTES_A_TOKEN = 300
"""Id, offsets, sequences, and its share of entities."""


@dataclass(slots=True)
class MemoryLease:
    """The bytes that one document has reserved."""

    memory: DocumentMemory
    bytes: int = 0

    def grow(self, tokens: int, labels: int) -> None:
        """Reserve what a document of at least so many tokens takes with a model of so many labels.

        Raises:
            QueueFull: other documents have reserved too much.
            InsufficientMemory: it does not fit with no other.
        """
        if tokens > LONG_TOKENS:
            self.memory.reserve(self, tokens * (labels * _BYTES_A_SCORE + _BYTES_A_TOKEN))


class DocumentMemory:
    """What the long documents of one worker have reserved. `free_bytes`: what the host or the container has left."""

    def __init__(self, free_bytes: Callable[[], int]) -> None:
        self._free_bytes = free_bytes
        self.reserved_bytes = 0

    @contextmanager
    def lease(self) -> Iterator[MemoryLease]:
        """A lease for one document, of nothing yet; it ends with the context."""
        lease = MemoryLease(self)
        try:
            yield lease
        finally:
            self.reserved_bytes -= lease.bytes

    def reserve(self, lease: MemoryLease, needed_bytes: int) -> None:
        """Let a lease grow to so many bytes, if they fit; see `MemoryLease.grow`."""
        others = self.reserved_bytes - lease.bytes
        free = int(SHARE * self._free_bytes())
        if others + needed_bytes > free:
            detail = f"it takes {_megabytes(needed_bytes)} of memory or more, and {_megabytes(free)} are free"
            if others:
                detail = f"other long documents have {_megabytes(others)} of memory reserved; {detail}"
                raise QueueFull(detail, retry_after_seconds=RETRY_SECONDS)
            raise InsufficientMemory(f"the document is too long for this machine: {detail}")
        self.reserved_bytes += needed_bytes - lease.bytes
        lease.bytes = needed_bytes


def _megabytes(count: int) -> str:
    return f"{count // 1_000_000:,} MB"
