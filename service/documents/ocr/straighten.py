"""Straightens a page's picture: finds the angle of its lines, and turns it so that they are level.

Lines are level where the profile of the ink, summed along them, is sharpest. Gray pictures are uint8 [height, width],
0 is black. A matrix is float64 [3, 3] and takes homogeneous pixels of the given picture to the straightened one.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

Gray = npt.NDArray[np.uint8]
Matrix = npt.NDArray[np.float64]

_SIDE = 900
"""Pixels of the longer side of the picture in which the angle is searched."""
_WIDEST, _COARSE, _FINE = 6.0, 0.5, 0.1  # degrees: furthest angle tried, and the steps of the two searches
_FEWEST_POINTS, _MOST_POINTS = 200, 40_000  # pixels of ink; a page with less is taken as straight
_SMALLEST_TURN = 0.15
"""Degrees; a smaller angle is left as it is."""
_DARKER, _DARKER_SHARE = 24, 5  # ink is darker than its surround by this many levels, and by a fifth of it
_SOLID_RADIUS, _SOLID_LEVEL, _SOLID_MARGIN = 9, 150, 12  # areas mostly of ink are pictures, not letters


def line_angles(gray: Gray) -> tuple[float, float]:
    """Degrees by which lines rise to the right: if the page is upright, and if it lies on its side."""
    ink = letters(gray)
    points = np.argwhere(ink)
    if len(points) < _FEWEST_POINTS:
        return 0.0, 0.0
    rows, columns = points[:: -(-len(points) // _MOST_POINTS)].astype(np.float64).T
    most = max(ink.shape)
    return _sharpest(rows, columns, most), -_sharpest(columns, rows, most)


def _shrunk(gray: Gray, side: int) -> Gray:
    scale = min(1.0, side / max(gray.shape))
    size = (max(int(gray.shape[1] * scale), 1), max(int(gray.shape[0] * scale), 1))
    return np.asarray(Image.fromarray(gray).resize(size, Image.Resampling.BILINEAR))


def letters(gray: Gray) -> npt.NDArray[np.bool_]:
    """True for pixels that are darker than their surround, without areas of solid ink; at most 900 to a side."""
    gray = _shrunk(gray, _SIDE)
    picture = Image.fromarray(gray)
    small = (max(picture.width // 16, 1), max(picture.height // 16, 1))
    surround = picture.resize(small, Image.Resampling.BOX).filter(ImageFilter.MaxFilter(3))
    paper = np.asarray(surround.resize(picture.size, Image.Resampling.BILINEAR)).astype(np.int16)
    dark = paper - gray.astype(np.int16) > np.maximum(_DARKER, paper // _DARKER_SHARE)
    solid = _blurred(_blurred(dark, _SOLID_RADIUS) > _SOLID_LEVEL, _SOLID_MARGIN) > 0
    return np.asarray(dark & ~solid)


def _blurred(flags: npt.NDArray[np.bool_], radius: int) -> Gray:
    return np.asarray(Image.fromarray(flags.astype(np.uint8) * 255).filter(ImageFilter.BoxBlur(radius)))


def _sharpest(along: npt.NDArray[np.float64], across: npt.NDArray[np.float64], most: int) -> float:
    """The angle under which the points, summed along it, change most from one line of pixels to the next."""

    def sharpness(degrees: float) -> float:
        lines = (along - across * math.tan(math.radians(degrees)) + most).astype(np.int64)
        change = np.diff(np.bincount(lines, minlength=3 * most))
        return float((change * change).sum())

    coarse = max(np.arange(-_WIDEST, _WIDEST + _COARSE / 2, _COARSE).tolist(), key=sharpness)
    near = np.arange(coarse - _COARSE, coarse + _COARSE + _FINE / 2, _FINE)
    return float(max(near.tolist(), key=sharpness))


def straightened(gray: Gray, angle: float, *, on_side: bool) -> tuple[Gray, Matrix]:
    """The picture, turned to the left by a quarter if it lies on its side, with lines of this angle made level."""
    matrix = np.eye(3)
    if on_side:
        matrix = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, gray.shape[1]], [0.0, 0.0, 1.0]])
        gray = np.rot90(gray).copy()
    if abs(angle) <= _SMALLEST_TURN:
        return gray, matrix
    height, width = gray.shape
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    across, down = width / 2, height / 2
    turn = np.array(
        [[cos, sin, across - cos * across - sin * down], [-sin, cos, down + sin * across - cos * down], [0, 0, 1]]
    )
    back = tuple(np.linalg.inv(turn)[:2].ravel().tolist())
    picture = Image.fromarray(gray).transform(
        (width, height), Image.Transform.AFFINE, back, Image.Resampling.BILINEAR, fillcolor=255
    )
    return np.asarray(picture), turn @ matrix


def upside_down(gray: Gray) -> tuple[Gray, Matrix]:
    """The picture turned by half."""
    height, width = gray.shape
    return gray[::-1, ::-1].copy(), np.array([[-1.0, 0.0, width], [0.0, -1.0, height], [0.0, 0.0, 1.0]])
