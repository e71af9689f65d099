"""Leaves out words that a page shows once but holds twice, and sets large marks across its lines apart.

Twice: painted in two passes (bold, a shadow, a form used twice), or a hidden layer of recognized text over real text.
pdfium drops a copy only next to its original in the content stream. Of two different words in one place both stay,
unless one of them is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from service.documents.pdf.glyphs import Glyphs
from service.documents.pdf.words import Word, height

Boxes = npt.NDArray[np.float64]

_LEAST_OVERLAP = 0.3
"""Overlap of words in a row, in typical word heights, from which text may be printed twice."""
_NEAR = 0.5
"""The widest gap from a hidden word to the same word that is shown, in typical word heights."""
_SAME_PLACE = 0.5
"""Least share of the narrower word's width within the other's; for a hidden word, within those over it."""
_SAME_LINE = 0.35
"""Between the middles of two words in one place, at most, in heights of the lower one."""
_MOST_TALLER = 2.0
"""Most ratio of heights of two words in one place."""
_MOST_COMPARED = 32
"""Words on the left in the same line with which a word is compared; bounds the work on a page of nothing but copies."""
_MARK = 2.0
"""The least height of a mark across lines, in typical word heights."""
_MIDDLE = 0.3
"""Share of a mark's height, above and below its centre: the strip with the centres of the words that it crosses."""


def shown_once(words: list[Word], glyphs: Glyphs, is_hidden: Callable[[int], bool]) -> list[Word]:
    """The words without second copies; `is_hidden` tells of a glyph whether its text is painted invisibly."""
    boxes = _boxes(words)
    unit = _unit(boxes)
    pairs = _pairs(boxes, unit, _LEAST_OVERLAP)
    if not pairs:
        return words
    hidden = [is_hidden(word.start) for word in words]
    if any(hidden) and not all(hidden):
        pairs = _pairs(boxes, unit, -_NEAR)
    texts = [glyphs.codes[word.start : word.end].tobytes() for word in words]
    widths, covered, dropped = boxes[:, 2] - boxes[:, 0], np.zeros(len(words)), set[int]()
    for a, b in sorted(pairs):
        kept, copy = sorted((a, b), key=lambda i: (hidden[i], words[i].start))
        if kept in dropped:
            continue
        overlap = min(words[a].right, words[b].right) - max(words[a].left, words[b].left)
        if hidden[copy] and not hidden[kept]:
            covered[copy] += max(overlap, 0)
            is_same_place = abs(words[a].left - words[b].left) <= unit
        else:
            is_same_place = overlap >= _SAME_PLACE * min(widths[a], widths[b])
        if (is_same_place and texts[kept] == texts[copy]) or covered[copy] >= _SAME_PLACE * widths[copy]:
            dropped.add(copy)
    return [word for index, word in enumerate(words) if index not in dropped]


def without_marks(words: list[Word]) -> list[list[Word]]:
    """The words, then those that are much taller and lie across others, as a level watermark does."""
    boxes = _boxes(words)
    tall = np.flatnonzero(boxes[:, 3] - boxes[:, 1] > _MARK * _unit(boxes))
    marks = {index for index in tall.tolist() if _crosses(words[index], boxes)}
    if not marks:
        return [words]
    rest = [word for index, word in enumerate(words) if index not in marks]
    return [group for group in (rest, [words[index] for index in sorted(marks)]) if group]


def _boxes(words: list[Word]) -> Boxes:
    return np.array(list(zip(*words, strict=True))[:4], np.float64).T


def _unit(boxes: Boxes) -> float:
    """The typical height of the words with these boxes, in points."""
    heights = boxes[:, 3] - boxes[:, 1]
    return max(float(np.partition(heights, len(heights) // 2)[len(heights) // 2]), 1.0)


def _pairs(boxes: Boxes, unit: float, least: float) -> set[tuple[int, int]]:
    """Pairs of words, the first index lower, that overlap by `least` units or more in one line."""
    return {pair for shift in (0.0, 0.5) for pair in _overlapping(boxes, unit, least, shift)}


def _overlapping(boxes: Boxes, unit: float, least: float, shift: float) -> Iterator[tuple[int, int]]:
    """Do the same among the words of each row of one unit; rows begin `shift` units further down."""
    middles, heights = (boxes[:, 1] + boxes[:, 3]) / 2, boxes[:, 3] - boxes[:, 1]
    rows = np.floor(middles / unit + shift) * (boxes[:, 2].max() - boxes[:, 0].min() + unit)
    left, right = boxes[:, 0] + rows, boxes[:, 2] + rows
    order = np.argsort(left, kind="stable")
    over = np.maximum.accumulate(right[order])[:-1] - left[order[1:]] > least * unit
    for at in (np.flatnonzero(over) + 1).tolist():
        index = int(order[at])
        before = order[max(at - _MOST_COMPARED, 0) : at]
        low, tall = np.minimum(heights[before], heights[index]), np.maximum(heights[before], heights[index])
        near = np.abs(middles[before] - middles[index]) <= _SAME_LINE * low
        near &= (tall <= _MOST_TALLER * low) & (right[before] - left[index] > least * unit)
        for other in before[near].tolist():
            yield min(index, other), max(index, other)


def _crosses(mark: Word, boxes: Boxes) -> bool:
    """True if the centre of a word, not itself that tall, lies in the middle strip of the mark."""
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    strip = np.abs(y - (mark.top + mark.bottom) / 2) <= _MIDDLE * height(mark)
    low = boxes[:, 3] - boxes[:, 1] < height(mark) / _MARK
    return bool((low & strip & (x > mark.left) & (x < mark.right)).any())
