"""Values of a file's redaction: which ranges of its text go, what is painted over, and what became of its pages.

Imports no PDF library.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.core.errors import UnredactableDocument
from service.documents.document import Box, Page


@dataclass(frozen=True, slots=True)
class Range:
    """A range of a document's text, in code points, and what stands there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class PaintedPage:
    """A page whose text was recognized in its picture (OCR): the boxes to paint over, on the page as shown.

    `must_be_painted`: also its text layer, if it has one, is not to stay. `in_pictures`: only its pictures were
    recognized; of its text layer ranges go.
    """

    number: int
    boxes: tuple[Box, ...]
    must_be_painted: bool = False
    in_pictures: bool = False


@dataclass(frozen=True, slots=True)
class Redaction:
    """The deletions from a file: ranges of its text, and texts that may not stand beside its pages any more.

    Attributes:
        ranges: of the text layer, on pages that were not recognized as a whole.
        secrets: what goes from outlines and other names too.
        everywhere: that may stand on no page either.
        allow_unread: what was not read of pages stays as it is; otherwise their file is refused.
        painted: the pages whose text was recognized.
        page_starts: where each page begins in the text that was read, if pages of it were recognized; the ranges are
            counted from there as in the text layer.
    """

    ranges: tuple[Range, ...]
    secrets: tuple[str, ...]
    everywhere: bool = True
    allow_unread: bool = False
    painted: tuple[PaintedPage, ...] = ()
    page_starts: tuple[int, ...] = ()

    def ranges_in(self, pages: Sequence[Page]) -> tuple[Range, ...]:
        """The ranges in the text of a file's text layer, which has these pages: recognized ones may differ in length.

        Raises:
            UnredactableDocument: they are not those of the text that was read.
        """
        if not self.page_starts:
            return self.ranges
        if len(self.page_starts) != len(pages):
            raise UnredactableDocument("The file has another number of pages than were read.")
        moved = []
        for each in self.ranges:
            page = bisect_right(self.page_starts, each.start) - 1
            further = pages[page].start - self.page_starts[page]
            moved.append(Range(each.start + further, each.end + further, each.text))
        return tuple(moved)

    def check_complete(self, incomplete: Iterable[int]) -> None:
        """Refuse a file of which these pages were not read in full.

        Raises:
            UnredactableDocument: there is one, and it may not stay as it is.
        """
        numbers = sorted(incomplete)
        if numbers and not self.allow_unread:
            shown = ", ".join(map(str, numbers[:5])) + (" and others" if len(numbers) > 5 else "")
            raise UnredactableDocument(
                f"Pages {shown} hold writing in images, as outlines or in fonts that do not say what it is, which was "
                "not read for certain; with `allow_unread` it stays as it is, with `output=text` the redacted text "
                "comes back instead, that which OCR reads included."
            )


@dataclass(frozen=True, slots=True)
class RedactedPage:
    """The result of one page: `rewritten`, `painted`, or `rasterized` with the reason why it is a picture now."""

    number: int
    method: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file without what was to go.

    Attributes:
        pages: those that are not as they were.
        removed: names of the parts of it that were removed whatever they held.
    """

    data: bytes
    pages: tuple[RedactedPage, ...] = ()
    removed: tuple[str, ...] = ()


class CannotRewrite(Exception):
    """The content of a page, or one of its fonts, is not understood well enough; the sentence says why."""
