"""Values of a file's redaction: which ranges of its text go, and what became of its pages. Imports no PDF library."""

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
    """The deletions from a file: ranges of its text, and texts that may not stand beside its pages any more.

    Attributes:
        ranges: of the text.
        secrets: what goes from outlines and other names too.
        everywhere: that may stand on no page either.
        allow_unread: what was not read of pages stays as it is; otherwise their file is refused.
    """

    ranges: tuple[Range, ...]
    secrets: tuple[str, ...]
    everywhere: bool = True
    allow_unread: bool = False


@dataclass(frozen=True, slots=True)
class RedactedPage:
    """The result of one page: `rewritten`, or `rasterized` with the reason why it could not be rewritten exactly."""

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


class CannotRewrite(Exception):
    """The content of a page, or one of its fonts, is not understood well enough; the sentence says why."""
