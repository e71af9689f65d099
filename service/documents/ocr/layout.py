"""Lays out recognized words: as glyphs of their page, in blocks, so that text and boxes come as from a text layer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import median

import numpy as np

from service.documents.ocr.networks import Floats
from service.documents.ocr.page import ReadPicture
from service.documents.ocr.recognition import Box, RecognizedWord
from service.documents.ocr.straighten import Matrix, moved
from service.documents.pdf.glyphs import Glyphs

_ASCENT = 0.12
"""Share of a line's height by which its characters' boxes exceed its ink, above and below, for the layout."""
_CLOSEST, _FURTHEST = -0.5, 0.9  # from a line to the next of its block, in heights of the larger
_OVERLAP = 0.5
"""Least overlap of two lines of a block, of the width of the narrower."""
_LIKE = 1.6
"""Most ratio of the heights of two lines of a block."""
_PROSE_LINES, _PROSE_CHARACTERS = 3, 25  # lines of a block of prose, and characters of its middling line
_SAME_ROW = 0.5
"""Most distance of the middles of two lines of a row, in heights of the smaller."""
_LEAST_STRIP, _MOST_STRIPS = 1.0, 8
"""Width of a strip between two papers, in heights of a word, and the strips that are tried."""
_FEWEST_ROWS, _WORDED = 3, 0.55  # rows of a paper, and share of those that are rather words than numbers
_MOST_PAIRED, _SAME_HEIGHT = 0.6, 0.3  # share of a side's rows at the height of the other's, in heights of a row
_FEWEST_LABELS, _AMOUNT = 2, re.compile(r"\D{0,3}\d[\d.,]*[.,]\d\d\D{0,3}")
"""Labels with an amount on a side that is a bill."""
MOST_COVERED = 0.3
"""Share of a recognized word's box under characters of the text layer: over it the word is the text layer's."""


@dataclass(slots=True)
class _Line:
    words: Sequence[RecognizedWord]
    box: Box = field(init=False)

    @property
    def middle(self) -> float:
        return (self.box[1] + self.box[3]) / 2

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1]

    @property
    def characters(self) -> int:
        return sum(len(word.text) for word in self.words)

    def __post_init__(self) -> None:
        boxes = [word.box for word in self.words]
        top, bottom = median(box[1] for box in boxes), median(box[3] for box in boxes)
        self.box = (min(box[0] for box in boxes), top, max(box[2] for box in boxes), bottom)


@dataclass(slots=True)
class _Block:
    lines: list[_Line]

    @property
    def is_prose(self) -> bool:
        """True if it has the long lines of running text; others may be the cells of a table's column."""
        characters = median(line.characters for line in self.lines)
        return len(self.lines) >= _PROSE_LINES and characters >= _PROSE_CHARACTERS

    def reaches(self, top: float) -> bool:
        """True if a line of any height whose top is there may continue it."""
        before = self.lines[-1].box
        return top - before[3] <= _FURTHEST * _LIKE * max(before[3] - before[1], 1.0)

    def gap_to(self, line: _Line) -> float | None:
        """The distance of a line below that continues the block; None if it does not."""
        left, top, right, bottom = line.box
        before = self.lines[-1].box
        height, height_before = bottom - top, max(before[3] - before[1], 1.0)
        larger = max(height, height_before)
        overlap = min(right, before[2]) - max(left, before[0])
        gap = top - before[3]
        fits = _CLOSEST * height_before <= gap <= _FURTHEST * larger and 1 / _LIKE < height / height_before < _LIKE
        return gap if fits and overlap > _OVERLAP * min(right - left, before[2] - before[0]) else None


def papers(read: ReadPicture) -> list[ReadPicture]:
    """A picture's papers, each with its lines, from left to right: receipts or pages of a book beside each other."""
    for edge in _free_edges(read):
        sides = [_Side.of(read, edge, is_left=is_left) for is_left in (True, False)]
        if all(side.can_stand_alone for side in sides) and _are_apart(*sides):
            left, right = (replace(read, lines=tuple(tuple(line.words) for line in side.lines)) for side in sides)
            return [*papers(left), *papers(right)]
    return [read]


def _free_edges(read: ReadPicture) -> list[float]:
    """The right ends of the strips from top to bottom that hold no word, the widest first."""
    boxes = sorted(word.box for line in read.lines for word in line)
    if not boxes:
        return []
    least = _LEAST_STRIP * median(box[3] - box[1] for box in boxes)
    strips, reached = [], boxes[0][2]
    for box in boxes:
        strips.append((box[0] - reached, box[0]))
        reached = max(reached, box[2])
    return [edge for width, edge in sorted(strips, reverse=True)[:_MOST_STRIPS] if width >= least]


@dataclass(slots=True)
class _Side:
    """The lines on one side of a strip, and the rows that they form."""

    lines: list[_Line]
    rows: list[_Line] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = []
        for line in sorted(self.lines, key=lambda each: each.middle):
            before = self.rows[-1] if self.rows else None
            if before and line.middle - before.middle < _SAME_ROW * min(line.height, before.height):
                self.rows[-1] = _Line(sorted((*before.words, *line.words), key=lambda word: word.box[0]))
            else:
                self.rows.append(line)

    @classmethod
    def of(cls, read: ReadPicture, edge: float, *, is_left: bool) -> _Side:
        parts = ([word for word in line if (word.box[0] < edge) == is_left] for line in read.lines)
        return cls([_Line(words) for words in parts if words])

    @property
    def can_stand_alone(self) -> bool:
        """True if it has several rows, more than half of which are rather words than numbers."""
        worded = [sum(map(str.isalpha, text)) >= sum(map(str.isdigit, text)) for text in map(_text, self.rows)]
        return len(self.rows) >= _FEWEST_ROWS and sum(worded) >= _WORDED * len(worded)

    @property
    def is_prose(self) -> bool:
        return median(row.characters for row in self.rows) >= _PROSE_CHARACTERS

    @property
    def labels(self) -> list[str]:
        """The words in front of the amounts with which rows end."""
        ended = (row for row in self.rows if len(row.words) > 1 and _AMOUNT.fullmatch(row.words[-1].text))
        return [_text(row).rstrip("0123456789.,") for row in ended if row.words[0].text[:1].isalpha()]


def _text(line: _Line) -> str:
    return "".join(word.text for word in line.words)


def _are_apart(left: _Side, right: _Side) -> bool:
    """True if the rows of two sides are not the rows of one table or form.

    They are both prose, or stand at other heights, or have amounts under a head of their own on both sides: a table has
    rows of one side alone on one side only, unless two receipts of one shop stand so, with the same labels.
    """
    top, bottom = (pick(side.rows[at].middle for side in (left, right)) for pick, at in ((max, 0), (min, -1)))
    beside = [
        [row for row in side.rows if top - row.height < row.middle < bottom + row.height] for side in (left, right)
    ]
    few, many = sorted(beside, key=len)
    if len(few) < _FEWEST_ROWS:
        return False
    if left.is_prose and right.is_prose:
        return True
    paired = sum(any(abs(row.middle - each.middle) < _SAME_HEIGHT * row.height for each in many) for row in few)
    if paired <= _MOST_PAIRED * len(few):
        return True
    ours, theirs = left.labels, right.labels
    are_bills = min(len(ours), len(theirs)) >= _FEWEST_LABELS and not any(
        _AMOUNT.fullmatch(side.rows[0].words[-1].text) for side in (left, right)
    )
    return are_bills and (paired < len(few) or bool(set(ours) & set(theirs)))


def recognized_glyphs(read: ReadPicture, points_per_pixel: float, width: float, height: float) -> Glyphs:
    """The glyphs of a picture: boxes for the layout are of the straightened page, those of the ink of the given one.

    Args:
        points_per_pixel: of the given picture.
        width: of the page as shown, in points.
        height: likewise.
    """
    lines = _in_order([_Line(words) for words in read.lines])
    back = np.linalg.inv(read.matrix).astype(np.float64)
    codes, loose, ink, spaced, confidence = [], [], [], [], []
    for line in lines:
        tallest = max(word.box[3] for word in line.words) - min(word.box[1] for word in line.words)
        top, bottom = line.box[1] - _ASCENT * tallest, line.box[3] + _ASCENT * tallest
        for word in line.words:
            text = unicodedata.normalize("NFC", word.text)
            left, step = word.box[0], (word.box[2] - word.box[0]) / max(len(text), 1)
            for place, sign in enumerate(text):
                across, lower = (left + step * place, left + step * (place + 1)), word.slope * step * place
                codes.append(ord(sign))
                loose.append((across[0], top, across[1], bottom))
                ink.append(_given(back, (across[0], word.box[1] + lower, across[1], word.box[3] + lower), word.slope))
                spaced.append(place == 0)
                confidence.append(word.confidence * word.oneness)
    count = len(codes)
    return Glyphs(
        codes=np.array(codes, np.uint32),
        loose=np.array(loose, np.float32).reshape(-1, 4) * np.float32(points_per_pixel),
        ink=np.array(ink, np.float32).reshape(-1, 4) * np.float32(points_per_pixel),
        spaced=np.array(spaced, np.bool_),
        width=width,
        height=height,
        indices=np.arange(count, dtype=np.int32),
        confidence=np.array(confidence, np.float32),
    )


def given_boxes(read: ReadPicture, boxes: Sequence[Box], points_per_pixel: float) -> tuple[Box, ...]:
    """Boxes of the straightened picture in points of the given page."""
    back = np.linalg.inv(read.matrix).astype(np.float64)
    found = (_given(back, box, 0.0) for box in boxes)
    return tuple(tuple(round(side * points_per_pixel, 1) for side in box) for box in found)  # type: ignore[misc]


def _given(back: Matrix, box: Box, slope: float) -> Box:
    left, top, right, bottom = box
    lower = slope * (right - left)
    corners = np.array([[left, top], [right, top + lower], [right, bottom + lower], [left, bottom]])
    points = moved(corners, back)
    (x0, y0), (x1, y1) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return x0, y0, x1, y1


def _in_order(lines: Sequence[_Line]) -> list[_Line]:
    """The lines as a content stream has them: blocks of prose whole, all others row by row, as tables are written."""
    blocks: list[_Block] = []
    near: list[_Block] = []
    for line in sorted(lines, key=lambda each: each.box[1]):
        near = [block for block in near if block.reaches(line.box[1])]
        gaps = [(gap, number) for number, block in enumerate(near) if (gap := block.gap_to(line)) is not None]
        if gaps:
            near[min(gaps)[1]].lines.append(line)
        else:
            blocks.append(_Block([line]))
            near.append(blocks[-1])
    units = [[block.lines] if block.is_prose else [[line] for line in block.lines] for block in blocks]
    rows: list[list[list[_Line]]] = []
    for unit in sorted(chain(*units), key=lambda each: each[0].middle):
        if rows and unit[0].middle - rows[-1][0][0].middle < _SAME_ROW * min(unit[0].height, rows[-1][0][0].height):
            rows[-1].append(unit)
        else:
            rows.append([unit])
    ordered = chain(*(sorted(row, key=lambda each: each[0].box[0]) for row in rows))
    return list(chain(*ordered))


def uncovered(found: Glyphs, text_layer: Floats) -> Glyphs:
    """The recognized words that no characters of a text layer (boxes of their ink) cover."""
    if not len(found.codes) or not len(text_layer):
        return found
    starts = np.flatnonzero(found.spaced)
    ends = np.append(starts[1:], len(found.codes))
    kept = np.zeros(len(found.codes), np.bool_)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        left, top = found.ink[start:end, :2].min(axis=0)
        right, bottom = found.ink[start:end, 2:].max(axis=0)
        kept[start:end] = covered((left, top, right, bottom), text_layer) <= MOST_COVERED
    return found.only(kept)


def covered(box: Box, text_layer: Floats) -> float:
    """The share of a box that lies under characters of a text layer (boxes of their ink)."""
    left, top, right, bottom = box
    across = np.minimum(text_layer[:, 2], right) - np.maximum(text_layer[:, 0], left)
    down = np.minimum(text_layer[:, 3], bottom) - np.maximum(text_layer[:, 1], top)
    return float((np.maximum(across, 0) * np.maximum(down, 0)).sum() / max((right - left) * (bottom - top), 1e-3))
