"""The Document that every reader returns: text, pages, and character boxes where the format has a layout.

It maps ranges of the text to pages and boxes. Offsets are Unicode code points into `text`; boxes are [left, top, right,
bottom] in points (1/72 inch) from the upper left corner of the page as shown (rotation applied).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt

from service.core.fields.stated_invoice import ElectronicInvoice, StatedPart
from service.documents.limits import MEBIBYTE

Box = tuple[float, float, float, float]
MOST_SKEW = 45.0


@dataclass(frozen=True, slots=True)
class Page:
    """One page's range of the text: `number` counts from 1, `start` and `end` are code points.

    `width` and `height` are points, as shown; if the document has `words`, they are in the unit of their boxes.
    """

    number: int
    start: int
    end: int
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes of characters and the starts of lines.

    Attributes:
        boxes: float32 of shape [characters, 4]; NaN for characters without ink (space, line break).
        line_starts: int32 of shape [lines], ascending: the offset at which each line begins.
        confidence: float32 of shape [characters]: the mean probability of the word of each character that was
            recognized in a picture, NaN for others; None: nothing was recognized.
    """

    boxes: npt.NDArray[np.float32]
    line_starts: npt.NDArray[np.int32]
    confidence: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlacedWords:
    """Words in reading order; a word's page is the one that holds its start.

    Attributes:
        ranges: int32 `[words, 2]`: start and end of each in the text, ascending.
        boxes: float64 `[words, 4]`: left, top, right, bottom, in the unit of the page's width and height; NaN for a
            word without ink.
    """

    ranges: npt.NDArray[np.int32]
    boxes: npt.NDArray[np.float64]

    def are_sound(self, length: int) -> bool:
        """True if they stand one after the other in a text of this length, and all have finite boxes."""
        borders = np.concatenate(([0], self.ranges.reshape(-1), [length]))
        is_filled = bool((self.ranges[:, 0] < self.ranges[:, 1]).all())
        return is_filled and bool((np.diff(borders) >= 0).all() and np.isfinite(self.boxes).all())


class UnreadReason(StrEnum):
    """Reason why part of a document was not read.

    An image; letters as outlines; characters without a Unicode value; text that is there, but not seen by a person; or
    struck-out text.
    """

    IMAGE = "image"
    OUTLINES = "outlines"
    UNMAPPED = "unmapped"
    HIDDEN = "hidden"
    STRUCK = "struck"


LEFT_OUT = frozenset((UnreadReason.HIDDEN, UnreadReason.STRUCK))
"""Reasons for text that is left out on purpose; under others, something that a person reads was not read."""


@dataclass(frozen=True, slots=True)
class PartlyRead:
    """Something of a page or a file that was not read.

    Attributes:
        page: its number; None in a format without pages (HTML, DOCX).
        boxes: around what looks written there, or around the text that was left out; empty without pages.
        characters: of hidden or struck-out text; 0 for other reasons, whose characters are not known.
    """

    page: int | None
    reason: UnreadReason
    boxes: tuple[Box, ...]
    characters: int = 0


def left_out_text(characters: Mapping[UnreadReason, int]) -> tuple[PartlyRead, ...]:
    """What a format without pages says of the text that it left out."""
    return tuple(PartlyRead(None, reason, (), count) for reason, count in sorted(characters.items()) if count)


MOST_PICTURES = 2_000
"""Most pictures of a DOCX or HTML file, and places of them, that are looked at."""
UNREAD_PICTURES = PartlyRead(None, UnreadReason.IMAGE, ())
"""The part of a DOCX or HTML file that pictures are, which were not read."""


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """A page, or a picture on it, of which text was recognized (OCR).

    Attributes:
        page: its number; None of a picture in a format without pages (HTML, DOCX).
        confidence: the mean probability of the recognized characters.
        turned: degrees clockwise by which its text stands on the page as shown: 0, 90, 180 or 270.
        skew: further degrees clockwise, by which its lines fall to the right.
        box: of the picture on the page, whose text layer was read; None: the page was recognized as a whole.
    """

    page: int | None
    confidence: float
    turned: int
    skew: float
    box: Box | None = None

    @property
    def is_sound(self) -> bool:
        """True if its values have the bounds that the reader of pictures keeps."""
        is_turned = self.turned in (0, 90, 180, 270) and abs(self.skew) <= MOST_SKEW
        return 0 <= self.confidence <= 1 and is_turned and all(map(math.isfinite, self.box or ()))

    def holds(self, box: Box) -> bool:
        """True if the middle of a box on the page lies in the picture, or all of the page was recognized."""
        if self.box is None:
            return True
        left, top, right, bottom = self.box
        return left <= (box[0] + box[2]) / 2 <= right and top <= (box[1] + box[3]) / 2 <= bottom


@dataclass(frozen=True, slots=True)
class RedactedPicture:
    """A page to read again by its picture alone, after something on it was painted over.

    Attributes:
        painted: the boxes; one that is black all over is read as paper, another is among `partly_read`.
        before: how the page lay, or each of its pictures, when it was recognized; empty: it was not.
    """

    painted: tuple[Box, ...]
    before: tuple[RecognizedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadAttachment:
    """An attachment that is an electronic invoice's XML by its name or its beginning, and why it was not read."""

    file: str
    detail: str


class CharsetSource(StrEnum):
    """Origin of a charset: declared by type or markup, proved by the form of the bytes, or guessed by letters."""

    DECLARED = "declared"
    DETECTED = "detected"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class Charset:
    """The character encoding that a text was read in.

    Attributes:
        name: as registered, in small letters: `utf-8`, `windows-1252`.
        confidence: 0 to 1; of a guess, the share of its letters that the encoding's languages explain, halved where
            another encoding explains them as well.
    """

    name: str
    source: CharsetSource
    confidence: float


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one document with its pages and layout.

    `pages` is None for formats without pages (text, HTML, DOCX), `layout` for those without boxes. `unread_pages` are
    the numbers of pages of which nothing was read, or next to nothing: scans, scans with a stamp, pages of outlines.
    `partly_read` says what was not read of pages with text. `charset` is that of a text or HTML file. `invoice` is what
    the XML of an electronic invoice states. `recognized` lists the pages whose pictures were read, `unread_attachments`
    invoices that are damaged. `pictures` of a format without pages are not read yet: the place of each in the text, and
    the number by which it is recognized. `page_pictures` are the numbers of pages with a text layer and pictures that
    may hold writing, each with a number that is equal for pages whose pictures show the same. `words` are those that
    the caller or the file gives with their boxes; then `page_images`, unless it is empty, has a picture file for each
    page, empty where none was given. `page_pixels` has each page as a model sees it, uint8 `[3, side, side]`, None
    without a picture; it is empty for models that see none.
    """

    text: str
    pages: tuple[Page, ...] | None = None
    layout: Layout | None = None
    unread_pages: tuple[int, ...] = ()
    partly_read: tuple[PartlyRead, ...] = ()
    charset: Charset | None = None
    invoice: ElectronicInvoice | None = None
    recognized: tuple[RecognizedPage, ...] = ()
    unread_attachments: tuple[UnreadAttachment, ...] = ()
    pictures: tuple[tuple[int, int], ...] = ()
    stated: tuple[StatedPart, ...] = ()
    page_pictures: tuple[tuple[int, int], ...] = ()
    words: PlacedWords | None = None
    page_images: tuple[bytes, ...] = ()
    page_pixels: tuple[npt.NDArray[np.uint8] | None, ...] = ()

    @property
    def recognized_places(self) -> dict[int, list[RecognizedPage]]:
        """Page number → how the page, or each of its pictures, was recognized."""
        places: dict[int, list[RecognizedPage]] = {}
        for each in self.recognized:
            if each.page is not None:
                places.setdefault(each.page, []).append(each)
        return places

    @property
    def incomplete_pages(self) -> tuple[int, ...]:
        """The numbers of pages of which something that is seen was not read, unread ones among them."""
        parts = [part.page for part in self.partly_read if part.reason not in LEFT_OUT]
        return tuple(sorted({*self.unread_pages, *(page for page in parts if page is not None)}))

    def confidence(self, start: int, end: int) -> float | None:
        """The least confidence of the recognized words in [start:end]; None if none of them was recognized."""
        if self.layout is None or self.layout.confidence is None:
            return None
        found = self.layout.confidence[start:end]
        found = found[~np.isnan(found)]
        return float(found.min()) if len(found) else None

    def page_at(self, offset: int) -> int | None:
        """The number of the page that holds the character at `offset`; None without pages."""
        if not self.pages:
            return None
        index = bisect_right(self.pages, offset, key=lambda page: page.start) - 1
        return self.pages[max(index, 0)].number

    def boxes(self, start: int, end: int) -> list[Box]:
        """One box for each line that [start:end] touches, in reading order; empty without a layout."""
        return [box for _, _, box in self.parts(start, end)]

    def line_extents(self, first: int = 0) -> Callable[[Sequence[tuple[int, int]]], list[tuple[float, float]]] | None:
        """Make a finder of `extents` for the part of the text that begins at `first`; None without a layout."""
        if self.layout is None:
            return None
        return lambda parts: self.extents([(first + start, first + end) for start, end in parts])

    def extents(self, parts: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
        """The left and right edges of parts of one line, in order; NaN where nothing is placed."""
        if self.layout is None or not parts:
            return [(math.nan, math.nan)] * len(parts)
        first, last = parts[0][0], parts[-1][1]
        places = self.layout.boxes[first:last]
        borders = [place - first for part in parts for place in part][:-1]
        lefts = np.fmin.reduceat(places[:, 0], borders)[::2]
        rights = np.fmax.reduceat(places[:, 2], borders)[::2]
        return list(zip(lefts.tolist(), rights.tolist(), strict=True))

    def parts(self, start: int, end: int) -> list[tuple[int, int, Box]]:
        """The part of [start:end] on each line, as its own range and the box around it; empty without a layout."""
        if self.layout is None:
            return []
        first = int(np.searchsorted(self.layout.line_starts, start, side="right")) - 1
        last = int(np.searchsorted(self.layout.line_starts, end, side="left"))
        borders = [start, *self.layout.line_starts[first + 1 : last].tolist(), end]
        parts = ((a, b, _around(self.layout.boxes[a:b])) for a, b in pairwise(borders))
        return [(a, b, box) for a, b, box in parts if box is not None]


def _around(boxes: npt.NDArray[np.float32]) -> Box | None:
    inked = boxes[~np.isnan(boxes[:, 0])]
    if not len(inked):
        return None
    left, top = inked[:, :2].min(axis=0).tolist()
    right, bottom = inked[:, 2:].max(axis=0).tolist()
    return (round(left, 1), round(top, 1), round(right, 1), round(bottom, 1))


MOST_WIDTH = 2_400
MOST_PIXELS = 8_000_000
MOST_PNG_BYTES = 3 * MOST_PIXELS + MEBIBYTE


class PictureRequest(msgspec.Struct, frozen=True):
    """A page, from 1, to be drawn at a width in pixels.

    With `resample`, the number of one of Pillow's filters, it becomes a square of that width, as models read pages.
    """

    page: int
    width: int
    resample: int | None = None

    @property
    def most_bytes(self) -> int:
        """Most bytes of the picture."""
        return MOST_PNG_BYTES if self.resample is None else 3 * self.width * self.width


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as shown (rotation applied): its picture, its size in points, and how many pages its file has.

    `content`: a PNG, or red, green and blue of each pixel of a square, row by row.
    """

    content: bytes
    width_points: float
    height_points: float
    pages: int
