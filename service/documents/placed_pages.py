"""Reads pages of words with their boxes, from an OCR of the caller's own, into a document.

The text is the words in their order, with a space between two, a line end before a word that begins a line, and an
empty line between pages. A word begins a line

- where neither its vertical middle lies in the box of the word before it, nor the other way round, or
- where it lies left of that word, and neither of the two is of a script that is read from right to left.

The rule: a page is checked before anything is built of it, and an error names the page, from 1, and the word, from 0,
as answers do.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from service.core.errors import DocumentTooLarge, MalformedRequest, UnreadableDocument
from service.documents.document import Document, Layout, Page, PlacedWords
from service.documents.format_detection import SUPPORTED, picture_kind
from service.documents.limits import MEBIBYTE, DocumentLimits, in_bytes

MOST_WORDS = 50_000
"""Most words of one page."""
MOST_WORD_CHARACTERS = 1_000
"""Most characters of one word."""
MOST_PAGE_CHARACTERS = 1_000_000
"""Most characters of one page's words together."""
MOST_IMAGE_BYTES = 8 * MEBIBYTE
"""Most bytes of a page's picture file."""
LEAST_SIDE, MOST_SIDE = 1e-6, 1e9
"""Least and greatest width and height of a page, in its own unit."""
OUTSIDE_SHARE = 0.01
"""Share of the page's width or height by which a box may reach beyond its edge."""
_POINTS, _SIDE_POINTS = (500.0, 1_300.0), 842.0
"""Least and greatest longer side of pages whose unit is taken for points (A5 to A3); that of other pages in points."""
_SEPARATOR = "\n\n"
_FIRST_LETTERS = 16
_RIGHT_TO_LEFT = ("R", "AL")
_ELEMENT = re.compile(r"\[(\d+)\]([^`]*)")
"""The element of a list in an error's path, and the path within the element."""
_T = TypeVar("_T")
_Boxes = npt.NDArray[np.float64]
_Flags = npt.NDArray[np.bool_]


class OcrWord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A word and its box: left, top, right, bottom, in the unit of its page's width and height."""

    text: str
    box: tuple[float, float, float, float]


class OcrPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page of words in reading order; `image`: the picture file of the page."""

    width: float
    height: float
    words: list[OcrWord]
    image: bytes | None = None


_NONE = msgspec.Raw(b"null")
_counted = threading.local()


class _RawPage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page's members, not decoded; decoding ends at the first page beyond the limit."""

    width: msgspec.Raw
    height: msgspec.Raw
    words: msgspec.Raw
    image: msgspec.Raw = _NONE

    def __post_init__(self) -> None:
        _counted.left -= 1
        if _counted.left < 0:
            raise _TooManyPagesError


class _TooManyPagesError(Exception):
    """The list of pages goes on beyond the limit."""


class _PagesFile(msgspec.Struct):
    """A file with the JSON of a document of pages."""

    pages: msgspec.Raw


_decode_pages = msgspec.json.Decoder(list[_RawPage]).decode
_decode_side = msgspec.json.Decoder(float).decode
_decode_words = msgspec.json.Decoder(list[OcrWord]).decode
_decode_image = msgspec.json.Decoder(bytes | None).decode
_decode_file = msgspec.json.Decoder(_PagesFile).decode


def pages_in_file(data: bytes) -> msgspec.Raw | None:
    """Return the JSON of `pages` if a file is an object with such a member; None for any other file."""
    if data[:1] != b"{":
        return None
    try:
        return _decode_file(data).pages
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def read_placed_pages(data: msgspec.Raw, limits: DocumentLimits) -> Document:
    """Read the document of a JSON list of pages.

    Raises:
        MalformedRequest: it is no JSON list of pages, or a member has another type than it should.
        UnreadableDocument: as `placed_document`.
        DocumentTooLarge: as `placed_document`.
    """
    limits.check_bytes(memoryview(data).nbytes)
    _counted.left = limits.max_pages
    try:
        raw = _decoded(lambda: _decode_pages(data), "pages", lambda index: f"page {index + 1}")
    except _TooManyPagesError:
        raise DocumentTooLarge(
            f"The document has more than {limits.max_pages:,} pages, the limit (GLEANER_MAX_DOCUMENT_PAGES)."
        ) from None
    return placed_document(map(_page, range(1, len(raw) + 1), raw), limits)


def _page(number: int, raw: _RawPage) -> OcrPage:
    """Decode one page; its words are counted first."""
    where = f"page {number}"
    if bytes(raw.words).count(b"{") > MOST_WORDS:
        raise _too_many_words(number)
    return OcrPage(
        _decoded(lambda: _decode_side(raw.width), f"{where}, width"),
        _decoded(lambda: _decode_side(raw.height), f"{where}, height"),
        _decoded(lambda: _decode_words(raw.words), where, lambda index: f"{where}, word {index}"),
        _decoded(lambda: _decode_image(raw.image), f"{where}, image"),
    )


def _decoded(decode: Callable[[], _T], where: str, place: Callable[[int], str] = str) -> _T:
    """Return the result of `decode`; an error names `where`, or `place` of an element if a list is decoded."""
    try:
        return decode()
    except msgspec.ValidationError as error:
        message, _, path = str(error).rpartition(" - at `$")
        if element := _ELEMENT.match(path):
            where = place(int(element[1])) + element[2]
        raise MalformedRequest(f"{where}: {(message or path)[:200]}.") from None
    except RecursionError:
        raise MalformedRequest(f"{where}: the JSON is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeError):
        raise MalformedRequest(f"{where}: this is not JSON in UTF-8.") from None


def placed_document(pages: Iterable[OcrPage], limits: DocumentLimits) -> Document:
    """Make the document of pages in their order.

    Raises:
        UnreadableDocument: no pages; a side that is not positive; an empty word, or one whose box is reversed, not
            finite or outside of its page; an image that is no picture file.
        DocumentTooLarge: more pages, words, characters or bytes of a picture than the limit.
    """
    made = _Builder(limits)
    for page in pages:
        made.add(page)
    return made.document()


class _Builder:
    """A document, page by page."""

    def __init__(self, limits: DocumentLimits) -> None:
        self._limits = limits
        self._length = 0
        self._texts: list[str] = []
        self._pages: list[Page] = []
        self._images: list[bytes] = []
        self._ranges: list[npt.NDArray[np.int32]] = [np.empty((0, 2), np.int32)]
        self._boxes: list[_Boxes] = [np.empty((0, 4))]
        self._lines: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]

    def add(self, page: OcrPage) -> None:
        number = len(self._pages) + 1
        self._limits.check_pages(number)
        boxes = _checked(number, page)
        if self._pages:
            self._extend(_SEPARATOR)
        start, texts = self._length, [word.text for word in page.words]
        begins = line_begins(boxes, texts)
        lengths = np.fromiter(map(len, texts), np.int32, len(texts))
        starts = np.cumsum(lengths + 1, dtype=np.int32) - lengths - 1
        self._limits.check_characters(start + int(lengths.sum()) + max(len(texts) - 1, 0))
        between = np.where(begins[1:], "\n", " ").tolist()
        text = "".join(chain.from_iterable(zip(["", *between], texts, strict=True))) if texts else ""
        self._ranges.append(np.stack((starts, starts + lengths), axis=1) + np.int32(start))
        self._lines.append(starts[begins] + np.int32(start))
        self._boxes.append(boxes)
        self._images.append(page.image or b"")
        self._extend(text)
        self._pages.append(Page(number, start, self._length, page.width, page.height))

    def _extend(self, text: str) -> None:
        self._texts.append(text)
        self._length += len(text)

    def document(self) -> Document:
        if not self._pages:
            raise UnreadableDocument("The document has no pages: there must be at least one page.")
        places = np.full((self._length, 4), np.nan, np.float32)
        for page, ranges, boxes in zip(self._pages, self._ranges[1:], self._boxes[1:], strict=True):
            if len(ranges):
                scaled = (boxes * points_of_unit(page.width, page.height)).astype(np.float32)
                _fill(places[page.start : page.end], ranges - np.int32(page.start), scaled)
        return Document(
            "".join(self._texts),
            tuple(self._pages),
            Layout(places, np.concatenate(self._lines)),
            words=PlacedWords(np.concatenate(self._ranges), np.concatenate(self._boxes)),
            page_images=tuple(self._images) if any(self._images) else (),
        )


def points_of_unit(width: float, height: float) -> float:
    """Choose the points (1/72 inch) of a page's unit, as if the page were about a sheet of paper."""
    longer, (least, most) = max(width, height), _POINTS
    return 1.0 if least <= longer <= most else _SIDE_POINTS / longer


def line_begins(boxes: _Boxes, texts: Sequence[str]) -> _Flags:
    """Whether each word of a page begins a line: bool `[words]`. The rule stands at the top."""
    before, after = boxes[:-1], boxes[1:]
    is_level = _in_height(_middles(after), before) | _in_height(_middles(before), after)
    is_back = (after[:, 0] + after[:, 2]) / 2 < before[:, 0]
    for place in np.flatnonzero(is_level & is_back).tolist():
        is_back[place] = not any(map(_is_right_to_left, texts[place : place + 2]))
    return np.concatenate((np.ones(min(len(texts), 1), np.bool_), ~is_level | is_back))


def _middles(boxes: _Boxes) -> _Boxes:
    return np.asarray((boxes[:, 1] + boxes[:, 3]) / 2)


def _in_height(places: _Boxes, boxes: _Boxes) -> _Flags:
    return np.asarray((boxes[:, 1] <= places) & (places <= boxes[:, 3]))


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in text[:_FIRST_LETTERS])


def _fill(places: npt.NDArray[np.float32], ranges: npt.NDArray[np.int32], boxes: npt.NDArray[np.float32]) -> None:
    """Give each character of a page an equal part of its word's box; those between words have NaN.

    Args:
        places: float32 `[characters, 4]`, of the page alone.
        ranges: its words, int32 `[words, 2]`, from the page's start, with one character between two.
        boxes: float32 `[words, 4]`.
    """
    starts, lengths = ranges[:, 0], ranges[:, 1] - ranges[:, 0]
    sizes = np.diff(starts, append=len(places))
    step = np.repeat((boxes[:, 2] - boxes[:, 0]) / lengths.astype(np.float32), sizes)
    index = np.arange(len(places), dtype=np.float32) - np.repeat(starts.astype(np.float32), sizes)
    places[:, 0] = np.repeat(boxes[:, 0], sizes) + step * index
    places[:, 1] = np.repeat(boxes[:, 1], sizes)
    places[:, 2] = places[:, 0] + step
    places[:, 3] = np.repeat(boxes[:, 3], sizes)
    places[starts[1:] - 1] = np.nan


def _checked(number: int, page: OcrPage) -> _Boxes:
    """The boxes of a page's words, float64 `[words, 4]`; raises as `placed_document`."""
    for name, side in (("width", page.width), ("height", page.height)):
        if not LEAST_SIDE <= side <= MOST_SIDE:
            raise UnreadableDocument(
                f"page {number}, {name}: {side:g} is no side of a page; it must be {LEAST_SIDE:g} to {MOST_SIDE:g}."
            )
    if page.image is not None:
        _check_image(number, page.image)
    if len(page.words) > MOST_WORDS:
        raise _too_many_words(number)
    _check_texts(number, [word.text for word in page.words])
    boxes = np.array([word.box for word in page.words], np.float64).reshape(-1, 4)
    sides = np.array((page.width, page.height, page.width, page.height))
    faults = (
        (~np.isfinite(boxes).all(axis=1), "is not of finite numbers"),
        ((boxes[:, :2] > boxes[:, 2:]).any(axis=1), "is reversed: it must be [left, top, right, bottom]"),
        (
            ((boxes < -OUTSIDE_SHARE * sides) | (boxes > (1 + OUTSIDE_SHARE) * sides)).any(axis=1),
            f"lies outside of the page of {page.width:g} × {page.height:g} by more than {OUTSIDE_SHARE:.0%} of a side",
        ),
    )
    for is_bad, why in faults:
        if np.any(is_bad):
            word = int(np.argmax(is_bad))
            box = ", ".join(f"{side:g}" for side in boxes[word])
            raise UnreadableDocument(f"page {number}, word {word}: its box [{box}] {why}.")
    return boxes


def _check_texts(number: int, texts: Sequence[str]) -> None:
    for word, text in enumerate(texts):
        if not text or text.isspace():
            raise UnreadableDocument(f"page {number}, word {word}: its text is empty.")
        if len(text) > MOST_WORD_CHARACTERS:
            raise DocumentTooLarge(
                f"page {number}, word {word}: it has {len(text):,} characters; the limit is {MOST_WORD_CHARACTERS:,}."
            )
    if (count := sum(map(len, texts))) > MOST_PAGE_CHARACTERS:
        raise DocumentTooLarge(f"page {number} has {count:,} characters; the limit is {MOST_PAGE_CHARACTERS:,}.")


def _check_image(number: int, image: bytes) -> None:
    if len(image) > MOST_IMAGE_BYTES:
        raise DocumentTooLarge(
            f"page {number}, image: it has {len(image):,} bytes; the limit is {in_bytes(MOST_IMAGE_BYTES)}."
        )
    if picture_kind(image) is None:
        raise UnreadableDocument(f"page {number}, image: it is no picture file ({SUPPORTED['pictures']}).")


def _too_many_words(number: int) -> DocumentTooLarge:
    return DocumentTooLarge(f"page {number} has more than {MOST_WORDS:,} words, the limit.")
