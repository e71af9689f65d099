"""Groups the words of one column into lines: words at one height, in the script's direction."""

from __future__ import annotations

from itertools import groupby
from statistics import median

from service.documents.pdf.words import Word

Line = list[Word]
_LARGEST_SHIFT = 0.35  # of a word's centre from its line's, in heights of the taller: superscripts stay, next lines go


def lines_of(words: list[Word]) -> list[Line]:
    """Lines from top to bottom, each in reading order."""
    lines: list[Line] = []
    anchor: Word | None = None
    for word in sorted(words, key=lambda w: w.top + w.bottom):
        if anchor is not None and _share_a_line(anchor, word) and not any(_stacked(word, w) for w in lines[-1]):
            lines[-1].append(word)
            anchor = max(anchor, word, key=height)
        else:
            lines.append([word])
            anchor = word
    return [_in_reading_order(line) for line in lines]


def height(word: Word) -> float:
    """The height of a word's box, in points."""
    return word.bottom - word.top


def typical_height(words: list[Word]) -> float:
    """The median height, in points."""
    return max(median(map(height, words)), 1.0)


def _share_a_line(anchor: Word, word: Word) -> bool:
    shift = abs(word.top + word.bottom - anchor.top - anchor.bottom) / 2
    tall, short = max(height(anchor), height(word)), min(height(anchor), height(word))
    return shift < _LARGEST_SHIFT * min(tall, 2 * short)


def _stacked(lower: Word, upper: Word) -> bool:
    """True when one word is below the other, as with two small lines beside a tall one: they share no line."""
    overlap = min(lower.right, upper.right) - max(lower.left, upper.left)
    if overlap <= 0.3 * min(lower.right - lower.left, upper.right - upper.left):
        return False
    shift = abs(lower.top + lower.bottom - upper.top - upper.bottom) / 2
    return shift > 0.25 * min(height(lower), height(upper))


def _in_reading_order(line: Line) -> Line:
    """The words from left to right; a line of mostly right-to-left words reversed, except its left-to-right runs."""
    line.sort(key=lambda word: word.left)
    if sum(word.is_right_to_left for word in line) * 2 <= len(line):
        return line
    leftward: Line = []
    for is_right_to_left, run in groupby(reversed(line), key=lambda word: word.is_right_to_left):
        words = list(run)
        leftward += words if is_right_to_left else reversed(words)
    return leftward
