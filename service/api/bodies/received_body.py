"""The body of a request as it came, in pieces: a long one is never copied as a whole on the event loop."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Sequence
from dataclasses import dataclass

PIECE_BYTES = 65_536
"""Chunks that are shorter are put together: a million of one byte would take fifty million."""
SHORT_BYTES = 1 << 20
"""A body up to this length is put together, and decoded, on the event loop: 5 ms for the densest JSON."""


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """All bytes of a body."""

    pieces: Sequence[bytes] = ()

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    @property
    def is_short(self) -> bool:
        """Whether the event loop may handle it as a whole."""
        return len(self) <= SHORT_BYTES

    async def whole(self) -> bytes:
        """Its bytes as one; those of a long one are copied in a thread, which does not hold the GIL meanwhile."""
        if self.is_short:
            return b"".join(self.pieces)
        return await asyncio.to_thread(b"".join, self.pieces)

    def without_mark(self) -> ReceivedBody:
        """The same without UTF-8's byte order mark, as some programs write it before JSON."""
        mark, rest = self.divided(len(codecs.BOM_UTF8))
        return rest if b"".join(mark.pieces) == codecs.BOM_UTF8 else self

    def divided(self, at: int) -> tuple[ReceivedBody, ReceivedBody]:
        """Its first `at` bytes, and all others."""
        before, after = list[bytes](), list[bytes]()
        for piece in self.pieces:
            before += [piece[:at]] if at > 0 else []
            after += [piece[at:]] if at < len(piece) else []
            at = max(at - len(piece), 0)
        return ReceivedBody(before), ReceivedBody(after)


class BodyCollector:
    """Collects a body while it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._short = bytearray()

    def add(self, chunk: bytes) -> None:
        """Add what came next."""
        if len(chunk) >= PIECE_BYTES:
            self._end_piece()
            self._pieces.append(chunk)
            return
        self._short += chunk
        if len(self._short) >= PIECE_BYTES:
            self._end_piece()

    def body(self) -> ReceivedBody:
        """All that came."""
        self._end_piece()
        return ReceivedBody(self._pieces)

    def _end_piece(self) -> None:
        if self._short:
            self._pieces.append(bytes(self._short))
            self._short.clear()
