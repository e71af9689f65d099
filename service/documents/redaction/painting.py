"""Paints over words in the pixels of a picture, so that nothing of them is left there.

ranges of a document → boxes of their words, with a margin → grown while ink crosses their edges → black

A recognized word's box is an estimate, and the places of its characters within it more so: a word of which a part goes
goes whole.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from service.documents.document import Box, Document, Page
from service.documents.pdf.drawing import Pixels
from service.documents.redaction.values import Range

_MARGIN = 0.2
"""Share of a character's height that is added on each side of its box."""
_AT_ONCE, _MOST_LEVEL = 3, 4.0
"""Characters of a box, which reaches to the next one; one on a page with more degrees of skew, where it is higher."""
_APART = 3.0
"""Sides of a character to the next one; from here on they are on different lines or in different columns."""
_GROWTH = 0.3
"""Share of a box's shorter side by which it may grow on each side."""
_LEAST_CONTRAST, _INK = 24, 0.35
"""Levels between ink and paper, and that as a share of the levels in and around a box."""
_UNSPACED = "\u2e80"
"""The first character of the scripts that are written without spaces: a word of them may be a whole line."""


def boxes_to_paint(
    document: Document, ranges: Iterable[Range], numbers: Collection[int], *, with_typed: bool = False
) -> dict[int, list[Box]]:
    """Page number, of these → boxes in points of the page as shown, over the words of these ranges.

    Args:
        with_typed: also over words of the text layer, on pages whose pictures alone were recognized.
    """
    assert document.layout is not None, "only formats with boxes are painted"
    pages = [page for page in document.pages or () if page.number in numbers]
    places = document.recognized_places
    by_pictures = {place.page for place in document.recognized if place.box}
    found: dict[int, list[Box]] = {}
    for each in ranges:
        if next(by_page(pages, each.start, each.end), None) is None:
            continue
        start, end = _whole_words(document, each.start, each.end)
        for page, first, last in by_page(pages, start, end):
            for a, b, around in document.parts(first, last):
                before = next((place for place in places.get(page.number, ()) if place.holds(around)), None)
                inked = ~np.isnan(document.layout.boxes[a:b, 0])
                if page.number in by_pictures and document.layout.confidence is not None and not with_typed:
                    inked &= ~np.isnan(document.layout.confidence[a:b])
                is_level = before is None or before.turned in (0, 180)
                at_once = _AT_ONCE if before is None or abs(before.skew) < _MOST_LEVEL else 1
                characters = document.layout.boxes[a:b][inked].tolist()
                if characters:
                    found.setdefault(page.number, []).extend(_joined(characters, is_level, at_once))
    return found


def by_page(pages: Sequence[Page], start: int, end: int) -> Iterator[tuple[Page, int, int]]:
    """The parts of a range on each of some pages, which are in order."""
    for page in pages[bisect_right(pages, start, key=lambda page: page.end) :]:
        if page.start >= end:
            break
        yield page, max(start, page.start), min(end, page.end)


def _whole_words(document: Document, start: int, end: int) -> tuple[int, int]:
    """A range with the rest of the recognized words at its ends."""
    confidence = document.layout.confidence if document.layout else None
    if confidence is None:
        return start, end

    def goes_on(at: int) -> bool:
        sign = document.text[at]
        return not (sign.isspace() or sign >= _UNSPACED or bool(np.isnan(confidence[at])))

    while start > 0 and goes_on(start) and goes_on(start - 1):
        start -= 1
    while 0 < end < len(document.text) and goes_on(end - 1) and goes_on(end):
        end += 1
    return start, end


def _joined(characters: list[list[float]], is_level: bool, at_once: int) -> Iterator[Box]:
    """Boxes over the characters of a line and the gaps between them."""
    line: list[list[float]] = []
    for box in (*characters, None):
        if box is None or (line and _are_apart(line[-1], box)):
            for first in range(0, max(len(line) - 1, 1), at_once):
                left, top = np.min([each[:2] for each in line[first : first + at_once + 1]], axis=0).tolist()
                right, bottom = np.max([each[2:] for each in line[first : first + at_once + 1]], axis=0).tolist()
                more = _MARGIN * (bottom - top if is_level else right - left)
                yield left - more, top - more, right + more, bottom + more
            line = []
        if box is not None:
            line.append(box)


def _are_apart(first: list[float], second: list[float]) -> bool:
    across = max(first[0], second[0]) - min(first[2], second[2])
    down = max(first[1], second[1]) - min(first[3], second[3])
    return max(across, down) > _APART * max(first[2] - first[0], first[3] - first[1])


def paint(pixels: Pixels, boxes: Iterable[Box], scale: tuple[float, float], level: int = 0) -> None:
    """Paint over boxes of a picture, uint8 [height, width] or [height, width, 3], in place.

    Args:
        boxes: in points.
        scale: pixels a point, across and down.
        level: what is painted, black unless given.
    """
    height, width = pixels.shape[:2]
    across, down = scale
    areas = []
    for left, top, right, bottom in boxes:
        x0, x1 = (round(max(0.0, min(x * across, width))) for x in (left, right))
        y0, y1 = (round(max(0.0, min(y * down, height))) for y in (top, bottom))
        if x0 < x1 and y0 < y1:
            areas.append(_grown(pixels, x0, y0, x1, y1))
    for x0, y0, x1, y1 in areas:
        pixels[y0:y1, x0:x1] = level


def _grown(pixels: Pixels, x0: int, y0: int, x1: int, y1: int) -> tuple[int, int, int, int]:
    """An area whose edges no ink crosses, if growing a little helps."""
    most = max(2, round(_GROWTH * min(x1 - x0, y1 - y0)))
    left, top = max(x0 - most, 0), max(y0 - most, 0)
    window = pixels[top : y1 + most, left : x1 + most].astype(np.float32)
    levels = window.mean(axis=2) if window.ndim == 3 else window
    far = abs(levels - np.median(levels))
    ink = far > max(_LEAST_CONTRAST, _INK * float(np.ptp(levels)))
    a, b, c, d = x0 - left, y0 - top, x1 - left, y1 - top
    while a > 0 and ink[b:d, a].any():
        a -= 1
    while c < ink.shape[1] and ink[b:d, c - 1].any():
        c += 1
    while b > 0 and ink[b, a:c].any():
        b -= 1
    while d < ink.shape[0] and ink[d - 1, a:c].any():
        d += 1
    return left + a, top + b, left + c, top + d
