"""Joins the words of a page's lines into text: white space between them, and what separates raised text from a number.

A gap far wider than a space is a tab. So is a gap somewhat wider between two numbers, the second with decimals, where
the file has no space: `1` and `278.61` in near columns. Text is raised if it is smaller than the digit before it and
stands higher.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.glyphs import Codes
from service.documents.pdf.words import NEAR_COLUMNS, WIDEST_SPACE, Line, Word, are_numbers, height
from service.documents.raised_text import raised_separator

_SPACE, _TAB, _NEWLINE, _POINT, _COMMA = -1, -2, -3, -4, -5
SEPARATORS = np.array([ord(sign) for sign in ",.\n\t "], np.uint32)
"""Separators under the negative indices above."""
_TOUCHING = 0.15  # in word heights; words from two places in the content stream that are closer are joined
_CROSSING = 0.3  # in word heights; of two words that overlap by more, one is stamped over the other
_SMALLER, _HIGHER = 0.8, 0.15  # the height of a raised character, and of its bottom over that of the one before it
_NEAREST, _FURTHEST = -0.5, 0.6  # from one to the other; all in heights of the one before it
_MOST_BEFORE, _MOST_BEHIND = 64, 256
"""Glyphs of a line before a raised run and from it on that say what separates it."""
_SPELLED = {" ": _SPACE, ".": _POINT, ",": _COMMA}


class LineText(NamedTuple):
    """Indices of glyphs in reading order, those of SEPARATORS among them, and where each line starts in them."""

    order: npt.NDArray[np.intp]
    starts: npt.NDArray[np.int32]


def line_text(lines: list[Line], codes: Codes, boxes: Floats) -> LineText:
    """The text of the lines of glyphs with these codes and boxes, those that are turned in their level frames."""
    order: list[int] = []
    starts = []
    for line in lines:
        if order:
            order.append(_NEWLINE)
        starts.append(len(order))
        before = None
        for word in line:
            if before is not None:
                order += (_TAB,) if _are_cells(before, word, codes) else _between(before, word, line)
            order += range(word.start, word.end)
            before = word
    return _with_raised(LineText(np.array(order, np.intp), np.array(starts, np.int32)), codes, boxes)


def _are_cells(before: Word, word: Word, codes: Codes) -> bool:
    """True for two numbers in columns near each other."""
    if not (before.is_numeric and word.is_numeric) or word.is_typed:
        return False
    if word.left - before.right <= NEAR_COLUMNS * min(height(before), height(word)):
        return False
    last, *number = map(chr, codes[[before.end - 1, *range(word.start, word.end)]].tolist())
    return are_numbers(last, "".join(number))


def _between(before: Word, word: Word, line: Line) -> tuple[int, ...]:
    gap = max(word.left - before.right, before.left - word.right)
    unit = min(height(before), height(word))
    if gap > WIDEST_SPACE * unit and (not before.is_right_to_left or _is_empty(before, word, line, unit)):
        return (_TAB,)
    if gap < -_CROSSING * unit and min(before.end - before.start, word.end - word.start) > 1:
        return (_SPACE,)
    follows = before.end == word.start
    if gap < _TOUCHING * unit and not (follows and word.is_spaced):
        return ()
    return (_SPACE,)


def _is_empty(before: Word, word: Word, line: Line, unit: float) -> bool:
    """True if a column's gap is between two words of a line from right to left, which need not be neighbours."""
    inner = sorted(w for w in line if min(before.left, word.left) <= w.left <= max(before.left, word.left))
    return any(right.left - left.right > WIDEST_SPACE * unit for left, right in pairwise(inner))


def _with_raised(text: LineText, codes: Codes, boxes: Floats) -> LineText:
    """The text with raised runs separated from the numbers before them."""
    order = text.order
    places = np.flatnonzero(order >= 0)
    before, here = order[places[:-1]], order[places[1:]]
    is_digit = (codes[before] >= ord("0")) & (codes[before] <= ord("9"))
    near = np.flatnonzero(is_digit & (np.diff(places) <= 2))
    near = near[_are_raised(boxes, before[near], here[near])]
    inserted: dict[int, int] = {}
    for first, place in zip(places[near].tolist(), places[near + 1].tolist(), strict=True):
        gap = boxes[order[place], 0] - boxes[order[first], 2]
        if _NEAREST <= gap / (boxes[order[first], 3] - boxes[order[first], 1]) <= _FURTHEST:
            separator = _SPELLED.get(_separator(text, codes, boxes, first, place))
            if separator is not None and order[place - 1] == _SPACE:
                order[place - 1] = separator
            elif separator is not None and place == first + 1:
                inserted[place] = separator
    if not inserted:
        return text
    positions = np.array(list(inserted))
    shifts = np.searchsorted(positions, text.starts, side="right").astype(np.int32)
    return LineText(np.insert(order, positions, list(inserted.values())), text.starts + shifts)


def _are_raised(boxes: Floats, before: npt.NDArray[np.intp], here: npt.NDArray[np.intp]) -> Flags:
    """True for glyphs that are smaller than those before them, and stand higher beside them."""
    base, own = boxes[before], boxes[here]
    tall = base[:, 3] - base[:, 1]
    is_smaller = own[:, 3] - own[:, 1] <= _SMALLER * tall
    return np.asarray(is_smaller & (own[:, 3] < base[:, 3] - _HIGHER * tall) & (own[:, 3] > base[:, 1]))


def _separator(text: LineText, codes: Codes, boxes: Floats, first: int, place: int) -> str:
    """Choose the separator between the raised run at `place` of the order and the line up to `first`."""
    at = int(np.searchsorted(text.starts, place, side="right"))
    start = max(int(text.starts[at - 1]), first - _MOST_BEFORE)
    end = min(int(text.starts[at]) if at < len(text.starts) else len(text.order), place + _MOST_BEHIND)
    glyphs = text.order[place:end]
    raised = _are_raised(boxes, np.full(len(glyphs), text.order[first]), glyphs) & (glyphs >= 0)
    length = len(raised) if raised.all() else int(raised.argmin())
    line = text.order[start:end]
    signs = "".join(map(chr, np.where(line >= 0, codes[line], SEPARATORS[np.minimum(line, -1)]).tolist()))
    return raised_separator(
        signs[: first + 1 - start], signs[place - start : place - start + length], signs[place - start + length :]
    )
