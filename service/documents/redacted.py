"""The values of a redaction: which ranges of a document's text go, and what came of its file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """A range of a document's text, in code points, and what stands there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class RedactedPage:
    """What became of one page: `rewritten`, or `rasterized` with the reason why it could not be rewritten exactly."""

    number: int
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file without what was to go; `removed` names the parts of it that were removed whatever they held."""

    data: bytes
    pages: tuple[RedactedPage, ...] = ()
    removed: tuple[str, ...] = ()
