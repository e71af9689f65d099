"""Joins recognized pages and pictures into the document of a file, in the places of those that were not read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from service.documents.document import LEFT_OUT, UNREAD_PICTURES, Box, Document, Layout, Page

_BETWEEN = "\n\n"
_LEAST_LETTERS, _LEAST_OF_PART = 3, 20
"""Letters and digits of a picture inside a file that is believed, and of one that is read in part."""
_BLANKS = re.compile(r"[ \t]+")


class _JoinedText:
    """Text that is put together of parts of documents with a layout."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._boxes: list[npt.NDArray[np.float32]] = [np.zeros((0, 4), np.float32)]
        self._starts: list[npt.NDArray[np.int32]] = [np.zeros(0, np.int32)]
        self._confidence: list[npt.NDArray[np.float32]] = []
        self.length = 0

    def add(self, source: Document, start: int, end: int, confidence: float = math.nan) -> None:
        """Add a part; `confidence`: of its characters that have none."""
        assert source.layout is not None, "a page has boxes"
        first, last = np.searchsorted(source.layout.line_starts, (start, max(end, start + 1)))
        sure = source.layout.confidence
        sure = np.full(end - start, np.nan, np.float32) if sure is None else sure[start:end]
        self._texts.append(source.text[start:end])
        self._boxes.append(source.layout.boxes[start:end])
        self._starts.append(source.layout.line_starts[first:last] - np.int32(start - self.length))
        self._confidence.append(np.where(np.isnan(sure), np.float32(confidence), sure))
        self.length += end - start

    def add_break(self, text: str, confidence: float = math.nan) -> None:
        """Add characters between two parts."""
        self._texts.append(text)
        self._boxes.append(np.full((len(text), 4), np.nan, np.float32))
        self._confidence.append(np.full(len(text), confidence, np.float32))
        self.length += len(text)

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def layout(self) -> Layout:
        """The layout of the whole text."""
        starts, sure = np.concatenate(self._starts).astype(np.int32), np.concatenate(self._confidence)
        return Layout(np.concatenate(self._boxes), starts, sure)


def with_recognized(document: Document, read: Mapping[int, Document]) -> Document:
    """The document with these pages in the place of its own, or with the text of their pictures among its own.

    Args:
        document: of a file with pages and a layout.
        read: page number → a document of this page alone, or of its pictures alone; one of which nothing was
            recognized changes nothing.
    """
    assert document.layout is not None, "only formats with pages are recognized"
    chosen = {number: each for number, each in read.items() if number not in each.unread_pages}
    joined, pages = _JoinedText(), list[Page]()
    for page in document.pages or ():
        if pages:
            joined.add_break(_BETWEEN)
        start, alone = joined.length, chosen.get(page.number)
        if alone is None or not alone.pages:
            joined.add(document, page.start, page.end)
        elif any(each.box for each in alone.recognized):
            _add_with_pictures(joined, document, page, alone)
        else:
            joined.add(alone, alone.pages[0].start, alone.pages[0].end)
        pages.append(replace(page, start=start, end=joined.length))
    return replace(
        document,
        text=joined.text,
        pages=tuple(pages),
        layout=joined.layout(),
        unread_pages=tuple(number for number in document.unread_pages if number not in chosen),
        partly_read=(
            *(part for part in document.partly_read if part.page not in chosen or part.reason in LEFT_OUT),
            *(part for number in sorted(chosen) for part in chosen[number].partly_read),
        ),
        recognized=tuple(each for number in sorted(chosen) for each in chosen[number].recognized),
    )


def _add_with_pictures(joined: _JoinedText, document: Document, page: Page, pictures: Document) -> None:
    """Add a page with the text of its pictures, each on lines of its own in its place among the page's lines.

    All characters that were not the page's have a confidence, so that `typed_parts` can leave them out.
    """
    assert document.layout is not None, "a page has boxes"
    first, last = np.searchsorted(document.layout.line_starts, (page.start, max(page.end, page.start + 1)))
    lines = list(pairwise((*document.layout.line_starts[first:last].tolist(), page.end)))
    boxes = [_box(document, start, end) for start, end in lines]
    blocks: dict[int, list[tuple[int, int]]] = {}
    for start, end in _blocks(pictures):
        blocks.setdefault(_line_after(_box(pictures, start, end), boxes), []).append((start, end))
    for number, (start, end) in enumerate(lines):
        for block in blocks.get(number, ()):
            joined.add(pictures, *block, confidence=1.0)
            joined.add_break("\n", confidence=1.0)
        joined.add(document, start, end)
    for number, block in enumerate(blocks.get(len(lines), ())):
        if lines or number:
            joined.add_break("\n", confidence=1.0)
        joined.add(pictures, *block, confidence=1.0)


def typed_parts(document: Document, page: Page, start: int, end: int) -> list[tuple[int, int, int]]:
    """The parts of a range on a page that are no pictures' text: start, end, and where each starts without that text,
    counted from where the page starts."""
    assert document.layout is not None, "a page has boxes"
    if document.layout.confidence is None:
        return [(start, end, start - page.start)]
    typed = np.isnan(document.layout.confidence[page.start : page.end])
    before = np.cumsum(typed) - typed
    borders = np.flatnonzero(np.diff(typed[start - page.start : end - page.start])) + 1 + start
    parts = pairwise((start, *borders.tolist(), end))
    return [(a, b, int(before[a - page.start])) for a, b in parts if typed[a - page.start]]


def of_page(pictures: Document, number: int) -> Document:
    """The pictures of a page as those of another one that shows the same."""
    return replace(
        pictures,
        pages=tuple(replace(page, number=number) for page in pictures.pages or ()),
        partly_read=tuple(replace(part, page=number) for part in pictures.partly_read),
        recognized=tuple(replace(each, page=number) for each in pictures.recognized),
    )


def _blocks(pictures: Document) -> Iterator[tuple[int, int]]:
    """The ranges of the text of each picture, without the line break at its end."""
    assert pictures.layout is not None, "a picture's text has boxes"
    lines = list(pairwise((*pictures.layout.line_starts.tolist(), len(pictures.text))))
    for _, group in groupby(lines, lambda line: _picture_at(pictures, _box(pictures, *line))):
        block = list(group)
        end = block[-1][1]
        yield block[0][0], end - (pictures.text[:end].endswith("\n"))


def _picture_at(pictures: Document, line: Box) -> int:
    """The number of the picture that holds a line's middle; -1: none does."""
    return next((at for at, each in enumerate(pictures.recognized) if each.holds(line)), -1)


def _line_after(block: Box, lines: Sequence[Box]) -> int:
    """The index of the line in front of which a block belongs: the first below its middle in its column, else the one
    behind the last above it there; without any in its column, the first below it."""
    middle = (block[1] + block[3]) / 2
    beside = [at for at, line in enumerate(lines) if line[0] < block[2] and line[2] > block[0]]
    below = [at for at in beside or range(len(lines)) if lines[at][1] >= middle]
    return below[0] if below else beside[-1] + 1 if beside else len(lines)


def _box(document: Document, start: int, end: int) -> Box:
    """The box around a line or a block; without ink, at the page's corner."""
    assert document.layout is not None, "a page has boxes"
    boxes = document.layout.boxes[start:end]
    boxes = boxes[~np.isnan(boxes[:, 0])]
    if not len(boxes):
        return 0.0, 0.0, 0.0, 0.0
    (left, top), (right, bottom) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:].max(axis=0).tolist()
    return left, top, right, bottom


def with_pictures(document: Document, read: Mapping[int, Document]) -> Document:
    """The document with the text of its pictures, each on lines of its own.

    Args:
        document: of a format without pages.
        read: number of a picture → a document of it alone; one that shows no writing changes nothing, and one of which
            a few letters were read, as of a seal, is named.
    """
    chosen = {number: each for number, each in read.items() if _is_legible(number, each)}
    texts: list[str] = []
    confidence: list[npt.NDArray[np.float32]] = []

    def add(text: str, sure: npt.NDArray[np.float32] | None = None) -> None:
        if text:
            texts.append(text)
            confidence.append(np.full(len(text), np.nan, np.float32) if sure is None else sure)

    at = 0
    for place, number in document.pictures:
        alone = chosen.get(number)
        add(document.text[at:place].rstrip("" if alone is None else " \t"))
        at = max(at, place)
        if alone is None or alone.layout is None:
            continue
        if texts and not texts[-1].endswith("\n"):
            add("\n")
        add(alone.text, alone.layout.confidence)
        after = _BLANKS.match(document.text, at)
        at = at if after is None else after.end()
        if at < len(document.text) and document.text[at] != "\n":
            add("\n")
    add(document.text[at:])
    numbers = {number for _, number in document.pictures}
    is_partly_read = any(
        number not in read or read[number].partly_read or (number not in chosen and read[number].text.strip())
        for number in numbers
    )
    parts = (part for part in document.partly_read if part != UNREAD_PICTURES or not is_partly_read)
    text = "".join(texts)
    boxes = np.broadcast_to(np.float32(np.nan), (len(text), 4))
    layout = Layout(boxes, np.zeros(0, np.int32), np.concatenate(confidence)) if chosen else None
    return replace(
        document,
        text=text,
        layout=layout,
        partly_read=(*parts, *[UNREAD_PICTURES] * is_partly_read),
        recognized=tuple(replace(each, page=None) for number in sorted(chosen) for each in chosen[number].recognized),
        pictures=(),
    )


def _is_legible(number: int, picture: Document) -> bool:
    letters = sum(map(str.isalnum, picture.text))
    return number not in picture.unread_pages and letters >= (_LEAST_OF_PART if picture.partly_read else _LEAST_LETTERS)
