"""The values of a redaction: which ranges of a document's text go, and what came of its file."""

from __future__ import annotations

from dataclasses import dataclass

from service.documents.document import Box


@dataclass(frozen=True, slots=True)
class Range:
    """A range of a document's text, in code points, and what stands there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is to go from a file: ranges of its text, and `secrets`, what may stand nowhere in it any more.

    `allow_unread`: pages without a text layer stay as they are; otherwise their file is refused.
    """

    ranges: tuple[Range, ...]
    secrets: tuple[str, ...]
    allow_unread: bool = False


@dataclass(frozen=True, slots=True)
class RedactedPage:
    """What became of one page: `rewritten`, or `rasterized` with the reason why it could not be rewritten exactly."""

    number: int
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file without what was to go.

    Attributes:
        pages: those that are not as they were.
        removed: names of the parts of it that were removed whatever they held.
        places: for each range its page, and its boxes as `Document.boxes` has them.
    """

    data: bytes
    pages: tuple[RedactedPage, ...] = ()
    removed: tuple[str, ...] = ()
    places: tuple[tuple[int | None, tuple[Box, ...]], ...] = ()
