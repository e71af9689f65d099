"""Words of a document with pages: their places in its text, their boxes, and those that a range touches."""

from __future__ import annotations

import re

import numpy as np

from service.documents.document import Box, Document, PlacedWords

_WORD = re.compile(r"\S+")


def words_between_spaces(document: Document) -> PlacedWords | None:
    """Find the words between white space, each with the box around its characters; None without pages or boxes."""
    if document.layout is None or not document.pages:
        return None
    spans = [match.span() for match in _WORD.finditer(document.text)]
    ranges = np.array(spans, dtype=np.int32).reshape(-1, 2)
    if not len(ranges):
        return PlacedWords(ranges, np.empty((0, 4)))
    borders = ranges.reshape(-1)
    places = np.vstack([document.layout.boxes, np.full((1, 4), np.nan, np.float32)]).astype(np.float64)
    least, most = (around.reduceat(places, borders, axis=0)[::2] for around in (np.fmin, np.fmax))
    return PlacedWords(ranges, np.hstack([least[:, :2], most[:, 2:]]))


def words_of(document: Document, start: int, end: int) -> tuple[int, int] | None:
    """Find the given words [first, end) that [start:end] touches, counted from 0 on the page of `start`.

    None if the document came without words, or the range is empty.
    """
    if document.words is None or not document.pages or start >= end:
        return None
    page = document.pages[(document.page_at(start) or 1) - 1]
    first_of_page = int(np.searchsorted(document.words.ranges[:, 0], page.start))
    first, last = _touched(document.words, start, min(end, page.end))
    return (first - first_of_page, last - first_of_page) if first < last else None


def shown_boxes(document: Document, start: int, end: int) -> list[Box]:
    """Make one box for each line that [start:end] touches: in points, or for given words in the unit of their page.

    A word that is touched in part gives the same part of its box.
    """
    words = document.words
    if words is None or document.layout is None:
        return document.boxes(start, end)
    first, last = _touched(words, start, end)
    if first >= last:
        return []
    (begin, stop), (left, top, right, bottom) = words.ranges[first:last].T, words.boxes[first:last].T.copy()
    wide, long = right - left, stop - begin
    left, right = (
        left + wide * (np.maximum(start - begin, 0) / long),
        right - wide * (np.maximum(stop - end, 0) / long),
    )
    lines = np.searchsorted(document.layout.line_starts, begin, side="right")
    borders = np.flatnonzero(np.diff(lines, prepend=-1))
    sides = [np.minimum.reduceat(each, borders) for each in (left, top)]
    sides += [np.maximum.reduceat(each, borders) for each in (right, bottom)]
    return [tuple(box) for box in np.stack(sides, axis=1).tolist()]


def _touched(words: PlacedWords, start: int, end: int) -> tuple[int, int]:
    """Find the words [first, end) that [start:end] touches, counted over all pages."""
    return (
        int(np.searchsorted(words.ranges[:, 1], start, side="right")),
        int(np.searchsorted(words.ranges[:, 0], end, side="left")),
    )
