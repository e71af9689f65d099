"""Leases on model revisions: which revisions a worker's running requests use, so that the engine keeps them loaded."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class RevisionLeases:
    """The revisions in use, counted; each heartbeat reports them to the engine."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    @property
    def revisions(self) -> tuple[str, ...]:
        """The revisions with at least one lease."""
        return tuple(self._counts)

    @contextmanager
    def hold(self, revision: str) -> Iterator[None]:
        """Lease `revision` until the context ends."""
        self._counts[revision] += 1
        try:
            yield
        finally:
            self._release(revision)

    def hold_while_alive(self, revision: str, owner: object) -> None:
        """Lease `revision` until `owner` is garbage-collected.

        For streaming responses: their generator may never be started, so no `finally` in it would run.
        """
        self._counts[revision] += 1
        weakref.finalize(owner, self._release, revision)

    def _release(self, revision: str) -> None:
        self._counts[revision] -= 1
        if not self._counts[revision]:
            del self._counts[revision]
