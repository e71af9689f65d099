"""Words and lines of a PDF page: runs of neighbouring characters in one writing direction, and words beside each other.

A word never joins characters that the content stream separates by white space, nor characters that do not touch,
except in a comb. Words of a turned or vertical run get a box in a frame that is turned so that they read from left to
right; so all layout is done on level lines. Text of another direction, as of a slanted watermark, never shares a line
with words it crosses.
"""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.documents.pdf.angles import Flags, Floats, level_frame
from service.documents.pdf.comb import comb_joints
from service.documents.pdf.glyphs import Codes, Glyphs, code_set, holds

_LARGEST_GAP = 0.5  # between characters of a word, in character heights; spaces that pdfium saw are borders already
_SMALLEST_OVERLAP = 0.5  # of neighbours across the writing direction, in heights of the smaller
_WITH_DECIMALS = re.compile(r"[0-9][0-9.,'’]*[.,][0-9]{2,3}")
_COLONS = code_set((0x3A, 0xFF1A))
_RIGHT_TO_LEFT = ((0x0590, 0x08FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFE))
_NUMERIC = code_set(map(ord, "0123456789.,:;-+/%$()#*'€£¥₪"))


class Direction(IntEnum):
    """The direction in which a word is written as its characters stand, in quarter turns clockwise."""

    LEVEL = 0
    DOWN = 1
    UP = 3


class Word(NamedTuple):
    """A box in the frame of its direction (points), and the glyphs [start, end) that it covers."""

    left: float
    top: float
    right: float
    bottom: float
    start: int
    end: int
    is_spaced: bool  # white space precedes it in the content stream
    is_numeric: bool  # at least half digits and signs of amounts
    is_key: bool  # ends in a colon
    is_right_to_left: bool
    is_typed: bool = True  # the file itself holds that white space, or does not say


def words_by_direction(glyphs: Glyphs) -> list[list[Word]]:
    """The words of each direction, that with the most characters first."""
    groups: dict[float, list[Word]] = {}
    for first, last, angle in _sections(glyphs.angles, len(glyphs.codes)):
        boxes = level_frame(glyphs.loose[first:last], angle, glyphs.width, glyphs.height)
        level, vertical = _steps(boxes)
        spaced = glyphs.spaced[first:last]
        typed = glyphs.typed[first:last] if len(glyphs.typed) else spaced
        joints = comb_joints(boxes, glyphs.codes[first:last], typed)
        starts = _word_starts(spaced & ~joints, level | joints, vertical & ~joints)
        directions = _directions(boxes, vertical, starts)
        if angle % 90:
            directions[:] = Direction.LEVEL
        for direction in Direction:
            if (directions == direction).any():
                turned = (angle + 90 * direction) % 360
                words = _words(glyphs, first, last, starts, directions == direction, turned)
                groups[turned] = groups.get(turned, []) + words
    return sorted(groups.values(), key=lambda words: -sum(word.end - word.start for word in words))


def level_boxes(glyphs: Glyphs) -> Floats:
    """The boxes for the layout, turned so that characters of each angle are level."""
    if not glyphs.angles.any():
        return glyphs.loose
    sections = _sections(glyphs.angles, len(glyphs.codes))
    frames = (level_frame(glyphs.loose[a:b], angle, glyphs.width, glyphs.height) for a, b, angle in sections)
    return np.concatenate(list(frames))


def _sections(angles: Floats, count: int) -> list[tuple[int, int, float]]:
    """The ranges of glyphs with one angle, and the angle."""
    if not angles.any():
        return [(0, count, 0.0)] if count else []
    borders = [0, *(np.flatnonzero(np.diff(angles)) + 1).tolist(), count]
    return [(first, last, float(angles[first])) for first, last in pairwise(borders)]


def _steps(boxes: Floats) -> tuple[Flags, Flags]:
    """True where a character is the level (first array) or vertical (second) neighbour of the one before it."""
    before, here = boxes[:-1], boxes[1:]
    near = np.maximum(before[:, :2], here[:, :2])
    gap = near - np.minimum(before[:, 2:], here[:, 2:])  # [x, y]; negative where they overlap
    size = np.minimum(before[:, 2:] - before[:, :2], here[:, 2:] - here[:, :2])
    across = -gap > _SMALLEST_OVERLAP * size
    largest = np.maximum(before[:, 2:] - before[:, :2], here[:, 2:] - here[:, :2]) * _LARGEST_GAP
    level, vertical = np.zeros((2, len(boxes)), np.bool_)
    level[1:] = across[:, 1] & (gap[:, 0] < largest[:, 1])
    vertical[1:] = across[:, 0] & (gap[:, 1] < largest[:, 0])
    return level, vertical & ~level


def _word_starts(spaced: Flags, level: Flags, vertical: Flags) -> npt.NDArray[np.intp]:
    """The indices at which words start: after white space, after a jump, where a run changes direction."""
    changes = np.zeros(len(level), np.bool_)
    changes[2:] = (vertical[2:] & level[1:-1]) | (level[2:] & vertical[1:-1])
    begins = spaced | changes | ~(level | vertical)
    begins[0] = True
    return np.flatnonzero(begins)


def _directions(boxes: Floats, vertical: Flags, starts: npt.NDArray[np.intp]) -> npt.NDArray[np.int8]:
    """Each word's direction: vertical if three or more characters step vertically; short words follow the majority."""
    lengths = np.diff(np.append(starts, len(boxes)))
    inner = vertical.copy()
    inner[starts] = False
    is_vertical = (np.add.reduceat(inner, starts, dtype=np.int64) * 2 >= lengths) & (lengths >= 3)
    is_short = lengths < 3
    last = starts + lengths - 1
    up = boxes[last, 1] < boxes[starts, 1]
    directions = np.where(is_vertical, np.where(up, Direction.UP, Direction.DOWN), Direction.LEVEL).astype(np.int8)
    weights = np.bincount(directions[~is_short], weights=lengths[~is_short], minlength=4)
    directions[is_short] = int(weights.argmax())
    return directions


def _words(
    glyphs: Glyphs, first: int, last: int, starts: npt.NDArray[np.intp], chosen: Flags, angle: float
) -> list[Word]:
    """The chosen ones of the words that start at `starts` among the glyphs from `first` to `last`."""
    ends = np.append(starts[1:], last - first)
    codes, boxes = glyphs.codes[first:last], level_frame(glyphs.loose[first:last], angle, glyphs.width, glyphs.height)
    corners = (
        np.minimum.reduceat(boxes[:, :2], starts)[chosen].tolist(),
        np.maximum.reduceat(boxes[:, 2:], starts)[chosen].tolist(),
    )
    numeric = np.add.reduceat(holds(_NUMERIC, codes), starts, dtype=np.int64) * 2 >= ends - starts
    rtl = np.add.reduceat(_is_right_to_left(codes), starts, dtype=np.int64) > 0
    spaced, is_key = glyphs.spaced[first:last][starts], holds(_COLONS, codes[ends - 1])
    typed = (glyphs.typed if len(glyphs.typed) else np.ones(last, np.bool_))[first:last][starts]
    columns = (starts + first, ends + first, spaced, numeric, is_key, rtl, typed)
    rest = zip(*(column[chosen].tolist() for column in columns), strict=True)
    return [Word(*near, *far, *more) for near, far, more in zip(*corners, rest, strict=True)]


def _is_right_to_left(codes: Codes) -> Flags:
    flags = np.zeros(len(codes), np.bool_)
    for first, last in _RIGHT_TO_LEFT:
        flags |= (codes >= first) & (codes <= last)
    return flags


Line = list[Word]
NEAR_COLUMNS = 0.4  # between numbers without a typed space, in word heights; a wider gap separates columns
WIDEST_SPACE = 2.0  # between words, in word heights; a wider gap separates columns
_LARGEST_SHIFT = 0.35  # of a word's centre from its line's, in heights of the taller: superscripts stay, next lines go


def lines_of(words: list[Word]) -> list[Line]:
    """Lines from top to bottom, each in reading order."""
    lines: list[Line] = []
    anchor: Word | None = None
    for word in sorted(words, key=lambda w: w.top + w.bottom):
        if anchor is not None and _share_a_line(anchor, word) and not _is_stacked(word, lines[-1]):
            lines[-1].append(word)
            anchor = max(anchor, word, key=height)
        else:
            lines.append([word])
            anchor = word
    return [_in_reading_order(line) for line in lines]


def height(word: Word) -> float:
    """The height of a word's box, in points."""
    return word.bottom - word.top


def are_numbers(before: str, word: str) -> bool:
    """True if the first text ends in a digit, and the second is a number with decimals."""
    return before[-1:].isdecimal() and _WITH_DECIMALS.fullmatch(word) is not None


def typical_height(words: list[Word]) -> float:
    """The median height, in points."""
    return max(median(map(height, words)), 1.0)


def _share_a_line(anchor: Word, word: Word) -> bool:
    shift = abs(word.top + word.bottom - anchor.top - anchor.bottom) / 2
    tall, short = max(height(anchor), height(word)), min(height(anchor), height(word))
    return shift < _LARGEST_SHIFT * min(tall, 2 * short)


def _is_stacked(lower: Word, line: Line) -> bool:
    """True when one of the words of a line is above the other word."""
    left, right = lower.left, lower.right
    return any(word.left < right and word.right > left and _stacked(lower, word) for word in line)


def _stacked(lower: Word, upper: Word) -> bool:
    """True when one word is below the other, as with two small lines beside a tall one: they share no line."""
    overlap = min(lower.right, upper.right) - max(lower.left, upper.left)
    if overlap <= 0.3 * min(lower.right - lower.left, upper.right - upper.left):
        return False
    shift = abs(lower.top + lower.bottom - upper.top - upper.bottom) / 2
    return shift > 0.25 * min(height(lower), height(upper))


def _in_reading_order(line: Line) -> Line:
    """The words of a line: from right to left if most of its words are, except their left-to-right runs.

    Numbers and signs belong to neither direction. They are read from left to right, but the columns of a row in the
    line's direction. In a line from left to right, runs of words from right to left are reversed.
    """
    line.sort(key=lambda word: word.left)
    from_right = sum(word.is_right_to_left for word in line)
    if not from_right:
        return line
    from_left = sum(not (word.is_right_to_left or word.is_numeric) for word in line)
    runs: list[Line] = []
    for word in line:
        before = runs[-1][-1] if runs else None
        if before and before.is_right_to_left == word.is_right_to_left and not _is_column(before, word):
            runs[-1].append(word)
        else:
            runs.append([word])
    ordered = [run[::-1] if run[0].is_right_to_left else run for run in runs]
    if from_right > from_left or (from_right == from_left and line[-1].is_right_to_left):
        ordered.reverse()
    return [word for run in ordered for word in run]


def _is_column(before: Word, word: Word) -> bool:
    return word.left - before.right > WIDEST_SPACE * min(height(before), height(word))
