"""Reads a page's picture: straightens it, finds its lines, turns it right side up, and recognizes its words.

angle of the lines → detect → on its side? turn, detect again → upside down? read some lines both ways → recognize
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from service.documents.ocr.detection import Band, find_bands
from service.documents.ocr.networks import TextNetworks
from service.documents.ocr.recognition import RecognizedWord, cut, mean_probability, recognized, words_of
from service.documents.ocr.straighten import Gray, Matrix, line_angles, straightened, upside_down

LEAST_LINE = 0.5
"""Compared with the mean probability of a line's characters; a line below it is not believed."""
_TRIED, _LEAST_TRIED, _TYPICAL = 6, 64, 360  # lines read both ways, and their least and best width in pixels
_UPRIGHT = 4
"""Height over width of a part that is a line up the margin of a page, which is not read; one character has less."""
_UPSIDE_DOWN = 0.05
"""Compared with how much surer the lines are read upside down than as they stand."""


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """What was recognized on a picture.

    Attributes:
        lines: the words of each line, from left to right; boxes are of the straightened picture.
        doubtful: boxes of lines that were detected and not believed, of the straightened picture.
        matrix: from the given picture's pixels to the straightened one's.
        turned: degrees clockwise by which the page stood: 0, 90, 180 or 270.
        skew: further degrees by which its lines rose to the right.
    """

    lines: tuple[tuple[RecognizedWord, ...], ...]
    doubtful: tuple[tuple[float, float, float, float], ...]
    matrix: Matrix
    turned: int
    skew: float


def read_picture(gray: Gray, networks: TextNetworks) -> ReadPicture:
    """The text of a gray picture, uint8 [height, width]."""
    level, if_on_side = line_angles(gray)
    page, matrix = straightened(gray, level, on_side=False)
    bands, on_side = find_bands(page, networks)
    if on_side:
        page, matrix = straightened(gray, if_on_side, on_side=True)
        bands, _ = find_bands(page, networks)
    strips = _strips(page, bands)
    is_upside_down = _is_upside_down(strips, networks)
    if is_upside_down:
        height, width = page.shape
        page, half = upside_down(page)
        matrix = half @ matrix
        bands = [
            Band(width - each.right, width - each.left, height - each.middle_at(each.right), each.slope, each.height)
            for each in bands
        ]
        strips = _strips(page, bands)
    lines, doubtful = [], []
    for strip, band, text in zip(strips, bands, recognized(strips, networks), strict=True):
        words = tuple(words_of(strip, band, text, networks.characters))
        is_upright = band.height > _UPRIGHT * band.width
        if words and not is_upright and float(text.probabilities.mean()) >= LEAST_LINE:
            lines.append(words)
        else:
            middle = band.middle_at((band.left + band.right) / 2)
            doubtful.append((band.left, middle - band.height / 2, band.right, middle + band.height / 2))
    return ReadPicture(
        tuple(lines),
        tuple(doubtful),
        matrix,
        (90 if on_side else 0) + (180 if is_upside_down else 0),
        if_on_side if on_side else level,
    )


def _strips(page: Gray, bands: list[Band]) -> list[Image.Image]:
    picture = Image.fromarray(page)
    return [cut(picture, band) for band in bands]


def _is_upside_down(strips: list[Image.Image], networks: TextNetworks) -> bool:
    """Whether lines of a middling length are read more surely when they are turned by half."""
    long = [strip for strip in strips if strip.width >= _LEAST_TRIED]
    tried = sorted(long, key=lambda strip: abs(strip.width - _TYPICAL))[:_TRIED]
    as_it_is = mean_probability(recognized(tried, networks))
    turned = mean_probability(recognized([strip.rotate(180) for strip in tried], networks))
    return turned > as_it_is + _UPSIDE_DOWN
