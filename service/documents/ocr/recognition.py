"""Recognizes the characters of lines: cuts each along its slope, runs the network, and makes words of its answer.

The network says for each step along a strip which character is likeliest, or none. A character is the first step of a
run of equal ones (greedy CTC decoding, Graves et al., ICML 2006). A word's box is shrunk to its ink.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.ma  # np.percentile imports it, which a parser cannot
import numpy.typing as npt
from PIL import Image

from service.documents.ocr.detection import LEAST_CONTRAST, Band
from service.documents.ocr.networks import STRIP_HEIGHT, Floats, Integers, TextNetworks

_BATCH_PIXELS = 4_000
"""Most pixels along the strips of one batch, the padding among them."""
_NARROWEST, _MULTIPLE = 16, 8  # pixels of a batch's width
_HALF_CHARACTER = 12
"""Pixels of a strip on each side of a character's middle that a word at least covers."""
_LEAST_SPACE, _SPACE_TIMES = 12, 2.5
"""Pixels of a strip without ink between two characters, and how often they hold the line's middling gap: a space."""
_LIKELY, _LEAST_LIKELY, _LIKELY_TIMES = 0.003, 9, 1.7
"""Least probability of a space with which a smaller gap is one, and the same two of that gap."""
_VERY_LIKELY, _OF_GAP = 0.28, 0.75
"""Least probability of a space with which a gap may be smaller still, and its share of the other's pixels."""
_FAINT = 0.25
"""Share of the contrast between paper and ink; anything darker is not blank, such as gray letters beside black ones."""
_NARROW, _NARROW_TIMES = frozenset(".,:;'’-–1"), 1.55
"""Signs that are narrower than their place, so that a gap beside one must be wider."""
_UNSPACED = "\u2e80"
"""The first character of the scripts that are written without spaces."""
_NEAR, _LETTER_HEIGHT = 24, 12
"""Pixels of a strip on each side of a character's middle that may be of the widest one, and the least of a letter."""
_EDGE = 2
"""Rows at a strip's top and bottom that may hold ink of other lines."""

Box = tuple[float, float, float, float]


class StripText(NamedTuple):
    """The characters of a strip, with the probability and the middle (pixels of the strip) of each.

    `spaces`: the probability of a space between each and the next one, or the end.
    """

    numbers: Integers
    probabilities: Floats
    middles: Floats
    spaces: Floats


class RecognizedWord(NamedTuple):
    """A word: its box (pixels of its page), and how sure it is.

    `slope`: pixels by which its right end stands lower than its left one, for each pixel of its width.
    `confidence`: the mean probability of its characters.
    `oneness`: the probability that it is one word: that there is no space between its characters.
    """

    text: str
    box: Box
    slope: float
    confidence: float
    oneness: float


def cut(page: Image.Image, band: Band) -> Image.Image:
    """The picture of a line, level and of the height that the network reads."""
    scale = band.height / STRIP_HEIGHT
    width = max(_MULTIPLE, round(band.width / scale))
    along = band.width / width
    matrix = (along, 0, band.left, band.slope * along, scale, band.middle - band.height / 2)
    size = (width, STRIP_HEIGHT)
    return page.transform(size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR, fillcolor=255)


def recognized(strips: Sequence[Image.Image], networks: TextNetworks) -> list[StripText]:
    """The characters of each strip; those of like width go through the network together."""
    found: list[StripText | None] = [None] * len(strips)
    for batch in _batches(strips):
        widest = max(strips[number].width for number in batch)
        width = max(_NARROWEST, -(-widest // _MULTIPLE) * _MULTIPLE)
        pixels = np.zeros((len(batch), 3, STRIP_HEIGHT, width), np.float32)
        for row, number in enumerate(batch):
            pixels[row, :, :, : strips[number].width] = np.asarray(strips[number], np.float32) / 127.5 - 1
        numbers, probabilities, spaces = networks.recognize(pixels)
        step = width / numbers.shape[1]
        for row, number in enumerate(batch):
            found[number] = _first_steps(numbers[row], probabilities[row], spaces[row], step)
    return [each for each in found if each is not None]


def _batches(strips: Sequence[Image.Image]) -> Iterator[list[int]]:
    batch: list[int] = []
    for number in sorted(range(len(strips)), key=lambda each: strips[each].width):
        if batch and (len(batch) + 1) * strips[number].width > _BATCH_PIXELS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _first_steps(numbers: Integers, probabilities: Floats, spaces: Floats, step: float) -> StripText:
    is_new = np.concatenate(([True], numbers[1:] != numbers[:-1])) if len(numbers) else np.zeros(0, np.bool_)
    at = np.flatnonzero((numbers != 0) & is_new)
    behind = np.maximum.reduceat(spaces, at) if len(at) else spaces[:0]
    return StripText(numbers[at], probabilities[at], ((at + 0.5) * step).astype(np.float32), behind)


def mean_probability(texts: Iterable[StripText]) -> float:
    """The mean over strips of the mean probability of their characters; 0 of a strip without any."""
    means = [float(each.probabilities.mean()) if len(each.probabilities) else 0.0 for each in texts]
    return sum(means) / len(means) if means else 0.0


def words_of(strip: Image.Image, band: Band, text: StripText, characters: Sequence[str]) -> Iterator[RecognizedWord]:
    """The words of a line, from left to right."""
    signs = [characters[number] if number < len(characters) else "" for number in text.numbers.tolist()]
    dark = _dark(np.asarray(strip))
    signs, text = _spaced(signs, text, _dark(np.asarray(strip), _FAINT))
    for first, last in _spans(signs):
        left, right = _reach(text.middles, signs, first, last, strip.width)
        left, top, right, bottom = _shrunk(dark, left, right)
        yield RecognizedWord(
            "".join(signs[first : last + 1]),
            _on_page(band, strip.width, (left, top, right, bottom)),
            band.slope,
            float(text.probabilities[first : last + 1].mean()),
            float(np.prod(1 - text.spaces[first:last])),
        )


def letter_columns(strip: Image.Image, text: StripText, characters: Sequence[str]) -> tuple[int, int]:
    """Count the columns of a strip with letters, and those of them far from all recognized characters.

    Rules and dots are no letters: their columns hold little from the first dark row to the last.
    """
    dark = _dark(np.asarray(strip))
    rows = np.arange(1, STRIP_HEIGHT + 1)[:, None]
    last = np.where(dark, rows, 0).max(axis=0)
    first = np.where(dark, rows, STRIP_HEIGHT).min(axis=0)
    has_letter = last - first >= _LETTER_HEIGHT
    near = np.zeros(strip.width, np.bool_)
    for number, middle in zip(text.numbers.tolist(), text.middles.tolist(), strict=True):
        if number < len(characters) and not characters[number].isspace():
            near[max(int(middle) - _NEAR, 0) : int(middle) + _NEAR] = True
    return int(has_letter.sum()), int((has_letter & ~near).sum())


def _spaced(signs: list[str], text: StripText, inked: npt.NDArray[np.bool_]) -> tuple[list[str], StripText]:
    """A line's characters with a space in each gap that the network overlooked, as it does on crisp print.

    It is far wider than the line's others, or wider and the network held a space for possible. Compression leaves a
    pattern in such gaps that print of any other kind has not.
    """
    if len(signs) < 2:
        return signs, text
    gaps = _gaps(np.asarray(inked[_EDGE:-_EDGE].any(axis=0)), text.middles)
    middling = float(np.median(gaps))
    narrow = np.array([_NARROW_TIMES if {left, right} & _NARROW else 1.0 for left, right in pairwise(signs)])
    is_wide = gaps >= max(_LEAST_SPACE, _SPACE_TIMES * middling) * narrow
    spaces = text.spaces[:-1]
    least = _LEAST_LIKELY * narrow * np.where(spaces >= _VERY_LIKELY, _OF_GAP, 1.0)
    is_likely = (spaces >= _LIKELY) & (gaps >= np.maximum(least, _LIKELY_TIMES * middling))
    is_open = [not (" " in (left, right) or max(left, right) >= _UNSPACED) for left, right in pairwise(signs)]
    at = np.flatnonzero((is_wide | is_likely) & is_open) + 1
    for place in at[::-1].tolist():
        signs.insert(place, " ")
    between = (text.middles[at - 1] + text.middles[at]) / 2
    numbers, probabilities = np.insert(text.numbers, at, 0), np.insert(text.probabilities, at, 1)
    return signs, StripText(numbers, probabilities, np.insert(text.middles, at, between), np.insert(text.spaces, at, 0))


def _gaps(columns: npt.NDArray[np.bool_], middles: Floats) -> Integers:
    """Columns of the widest gap between each two neighbours; a gap is between those on both sides of its middle.

    The network's middle of a narrow sign may lie beside its ink.
    """
    inked = np.flatnonzero(columns)
    between = np.searchsorted(middles, (inked[1:] + inked[:-1]) / 2) - 1
    gaps = np.zeros(len(middles) - 1, np.int64)
    is_inside = (between >= 0) & (between < len(gaps))
    np.maximum.at(gaps, between[is_inside], (np.diff(inked) - 1)[is_inside])
    return gaps


def _spans(signs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last character of each word."""
    first: int | None = None
    for number, sign in enumerate((*signs, " ")):
        is_blank = not sign or sign.isspace()
        if is_blank and first is not None:
            yield first, number - 1
            first = None
        elif not is_blank and first is None:
            first = number


def _reach(middles: Floats, signs: Sequence[str], first: int, last: int, width: int) -> tuple[int, int]:
    """Bound a word's beginning and end: half a character around it, but not beyond the blank beside it."""
    left, right = float(middles[first]) - _HALF_CHARACTER, float(middles[last]) + _HALF_CHARACTER
    if first > 0:
        left = max(left, float(middles[first - 1]))
    if last + 1 < len(signs):
        right = min(right, float(middles[last + 1]))
    return max(0, int(left)), min(width, math.ceil(right))


def _dark(strip: npt.NDArray[np.uint8], share: float = 0.5) -> npt.NDArray[np.bool_]:
    darkest, lightest = (float(np.percentile(strip, percent)) for percent in (3, 85))
    if lightest - darkest < LEAST_CONTRAST:
        return np.zeros(strip.shape, np.bool_)
    return np.asarray(strip < lightest - share * (lightest - darkest))


def _shrunk(dark: npt.NDArray[np.bool_], left: int, right: int) -> tuple[int, int, int, int]:
    inside = dark[_EDGE:-_EDGE, left:right]
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if not len(rows):
        return left, 2 * _EDGE, right, STRIP_HEIGHT - 2 * _EDGE
    return left + int(columns[0]), int(rows[0]) + _EDGE, left + int(columns[-1]) + 1, int(rows[-1]) + _EDGE + 1


def _on_page(band: Band, width: int, box: tuple[int, int, int, int]) -> Box:
    along, down = band.width / width, band.height / STRIP_HEIGHT
    left = band.left + box[0] * along
    top = band.middle_at(left) - band.height / 2
    return left, top + box[1] * down, band.left + box[2] * along, top + box[3] * down
