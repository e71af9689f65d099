"""Reads a page's picture: straightens it, finds its lines, turns it right side up, and recognizes its words.

angle of the lines → detect → on its side? turn, detect again → upside down? read some lines both ways → recognize

Where the lines that are detected still rise or meet, the page is straightened by them, and they are detected again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PIL import Image

from service.documents.document import MOST_SKEW
from service.documents.ocr.detection import Band, find_bands
from service.documents.ocr.networks import TextNetworks
from service.documents.ocr.recognition import (
    Box,
    RecognizedWord,
    cut,
    letter_columns,
    mean_probability,
    recognized,
    words_of,
)
from service.documents.ocr.straighten import Gray, Matrix, line_angles, straightened, upside_down, without_perspective

LEAST_LINE = 0.8
"""Least mean probability of a line's characters; a line below it is not believed."""
_MOST_UNREAD = 0.4
"""Share of a line's columns with letters but no recognized character; above it the line is reported."""
_TRIED, _LEAST_TRIED, _TYPICAL = 6, 64, 360  # lines read both ways, and their least and best width in pixels
_UPRIGHT = 4
"""Height over width of a part that is a line up or down the margin of a page; one character has less."""
_LEAST_LETTERS = 3
"""Letters and digits of a line up the margin: rules and brackets have the same form."""
_LEAST_TILT = 1.5
"""Degrees of the lines that are detected; if they still lie so, the page is straightened by them."""
_RISING, _FEWEST_RISING, _MOST_RISING = 0.05, 3, 0.2
"""Slope of a line on a straightened page, and lines, and share of those with a slope, from which rows are in doubt."""
_UPSIDE_DOWN = 0.05
"""Least gain in probability for which lines count as upside down."""


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """Text recognized on a picture.

    Attributes:
        lines: the words of each line, from left to right; boxes are of the straightened picture.
        doubtful: boxes of lines that were detected and not believed, or whose rows are in doubt since they are not
            level, of the straightened picture.
        matrix: from the given picture's pixels to the straightened one's.
        turned: degrees clockwise by which the page stood: 0, 90, 180 or 270.
        skew: further degrees clockwise, by which its lines fell to the right.
        margins: the lines that run up the page, and those that run down, each as on a picture that is turned.
        unread_share: of the columns with letters in all lines, those of which no character was recognized: much of a
            page in another script, which the network takes for blank.
    """

    lines: tuple[tuple[RecognizedWord, ...], ...]
    doubtful: tuple[tuple[float, float, float, float], ...]
    matrix: Matrix
    turned: int
    skew: float
    margins: tuple[ReadPicture, ...] = ()
    unread_share: float = 0.0


class _Page(NamedTuple):
    """A straightened page: its picture, the matrix to it, its lines, and how the given one lay."""

    gray: Gray
    matrix: Matrix
    bands: list[Band]
    on_side: bool
    skew: float


def _straight(gray: Gray, networks: TextNetworks, lies: tuple[int, float] | None) -> _Page:
    """A page with level lines; of `read_picture`."""
    if lies is None:
        level, if_on_side = line_angles(gray)
        page, matrix = straightened(gray, level, on_side=False)
        bands, on_side, tilt = find_bands(page, networks)
        skew = if_on_side if on_side else level
    else:
        on_side, skew = lies[0] in (90, 270), lies[1]
    if on_side or lies is not None:
        page, matrix = straightened(gray, skew, on_side=on_side)
        bands, _, tilt = find_bands(page, networks)
    if lies is None and abs(tilt) > _LEAST_TILT and abs(skew + tilt) < MOST_SKEW:
        skew += tilt
        page, matrix = straightened(gray, skew, on_side=on_side)
        bands, _, _ = find_bands(page, networks)
    middle = page.shape[1] / 2
    sloping = [(band.middle_at(middle), band.slope, band.width) for band in bands if band.slope]
    if (seen := without_perspective(page, np.array(sloping).reshape(-1, 3))) is not None:
        page, matrix = seen[0], seen[1] @ matrix
        bands, _, _ = find_bands(page, networks)
    return _Page(page, matrix, bands, on_side, skew)


def read_picture(gray: Gray, networks: TextNetworks, lies: tuple[int, float] | None = None) -> ReadPicture:
    """The text of a gray picture, uint8 [height, width]; `lies`: `turned` and `skew` of the page, if they are known."""
    page, matrix, bands, on_side, skew = _straight(gray, networks, lies)
    is_upside_down = lies[0] >= 180 if lies is not None else _is_upside_down(_strips(page, bands), networks)
    if is_upside_down:
        height, width = page.shape
        page, half = upside_down(page)
        matrix = half @ matrix
        bands = [
            Band(width - each.right, width - each.left, height - each.middle_at(each.right), each.slope, each.height)
            for each in bands
        ]
    level_bands = [band for band in bands if band.height <= _UPRIGHT * band.width]
    upright = [band for band in bands if band.height > _UPRIGHT * band.width]
    strips = _strips(page, level_bands)
    margins, doubtful = _margins(page, matrix, upright, networks)
    rising = [band for band in level_bands if abs(band.slope) > _RISING]
    if len(rising) >= max(_FEWEST_RISING, _MOST_RISING * sum(band.slope != 0 for band in level_bands)):
        doubtful += map(_box, rising)
    lines = []
    lettered = unread = 0
    for strip, band, text in zip(strips, level_bands, recognized(strips, networks), strict=True):
        words = tuple(words_of(strip, band, text, networks.characters))
        of_strip, unread_of_strip = letter_columns(strip, text, networks.characters)
        lettered, unread = lettered + of_strip, unread + unread_of_strip
        is_partly_read = unread_of_strip > _MOST_UNREAD * of_strip
        if is_partly_read:
            words = tuple(word for word in words if any(map(str.isalnum, word.text)))
        is_believed = _confidence(words) >= LEAST_LINE
        if is_believed:
            lines.append(words)
        if is_partly_read or not is_believed:
            doubtful.append(_box(band))
    return ReadPicture(
        tuple(lines),
        tuple(doubtful),
        matrix,
        (90 if on_side else 0) + (180 if is_upside_down else 0),
        skew,
        margins,
        unread / max(lettered, 1),
    )


def _confidence(words: Sequence[RecognizedWord]) -> float:
    """The mean probability of the characters of words, without the spaces between them, which are always sure."""
    characters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / max(characters, 1)


def _box(band: Band) -> Box:
    middle = band.middle_at((band.left + band.right) / 2)
    return band.left, middle - band.height / 2, band.right, middle + band.height / 2


def _margins(
    page: Gray, matrix: Matrix, bands: list[Band], networks: TextNetworks
) -> tuple[tuple[ReadPicture, ...], list[Box]]:
    """The lines of upright bands, each read from the page turned to the side on which it is surer; boxes of others."""
    if not bands:
        return (), []
    height, width = page.shape
    boxes = list(map(_box, bands))
    ways = (
        (
            np.rot90(page, -1).copy(),
            np.array([[0.0, -1.0, height], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
            [Band(height - low, height - top, (left + right) / 2, 0, right - left) for left, top, right, low in boxes],
        ),
        (
            np.rot90(page).copy(),
            np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, width], [0.0, 0.0, 1.0]]),
            [Band(top, low, width - (left + right) / 2, 0, right - left) for left, top, right, low in boxes],
        ),
    )
    strips = [_strips(turned, level) for turned, _, level in ways]
    texts = [recognized(each, networks) for each in strips]
    lines: tuple[list[tuple[RecognizedWord, ...]], ...] = ([], [])
    doubtful = []
    for number, box in enumerate(boxes):
        sure = [mean_probability([texts[way][number]]) for way in (0, 1)]
        way = sure.index(max(sure))
        words = tuple(words_of(strips[way][number], ways[way][2][number], texts[way][number], networks.characters))
        letters = sum(sign.isalnum() for word in words for sign in word.text)
        if letters >= _LEAST_LETTERS and sure[way] >= LEAST_LINE:
            lines[way].append(words)
        else:
            doubtful.append(box)
    found = (
        ReadPicture(tuple(each), (), turn @ matrix, 0, 0.0)
        for each, (_, turn, _) in zip(lines, ways, strict=True)
        if each
    )
    return tuple(found), doubtful


def _strips(page: Gray, bands: list[Band]) -> list[Image.Image]:
    picture = Image.fromarray(page)
    return [cut(picture, band) for band in bands]


def _is_upside_down(strips: list[Image.Image], networks: TextNetworks) -> bool:
    """True if lines of a middling length are read more surely when they are turned by half."""
    long = [strip for strip in strips if strip.width >= _LEAST_TRIED]
    tried = sorted(long, key=lambda strip: abs(strip.width - _TYPICAL))[:_TRIED]
    as_it_is = mean_probability(recognized(tried, networks))
    turned = mean_probability(recognized([strip.rotate(180) for strip in tried], networks))
    return turned > as_it_is + _UPSIDE_DOWN
