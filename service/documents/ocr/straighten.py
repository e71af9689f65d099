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
Floats = npt.NDArray[np.float64]
Matrix = Floats

_SIDE, _LEAST_SHORT_SIDE = 900, 300
"""Pixels of the longer side of the picture in which the angle is searched, unless the shorter one had too few."""
_WIDEST, _COARSE, _FINE = 20.0, 0.5, 0.1  # degrees: furthest angle tried, and the steps of the two searches
_USUAL, _CLEARLY = 6.0, 2.0
"""Degrees beyond which lines are believed only where they are so many times as sharp as under the middling angle."""
_FEWEST_POINTS, _MOST_POINTS = 200, 40_000  # pixels of ink; a page with less is taken as straight
_SMALLEST_TURN = 0.15
"""Degrees; a smaller angle is left as it is."""
_EDGE = 16
"""Pixels of paper beyond ink that a turn would cut off."""
_FEWEST_LINES, _LEAST_FAN = 6, 0.02
"""Lines of a page seen from aside, and least difference of slope between its first and its last."""
_MOST_NARROWING = 0.3
"""Part by which a page's side may be further away than its middle; with more, its lines are no fan."""
_MOST_OFF, _TIMES_OFF = 0.01, 3
"""Slope by which a line may differ from what the others say, and that of the middling one to their whole difference."""
_DARKER, _DARKER_SHARE = 24, 5  # ink is darker than its surround by this many levels, and by a fifth of it
_SOLID_RADIUS, _SOLID_LEVEL, _SOLID_MARGIN = 9, 150, 12  # areas mostly of ink are pictures, not letters


def line_angles(gray: Gray) -> tuple[float, float]:
    """Degrees clockwise by which lines are turned: if the page is upright, and if it lies on its side."""
    ink = letters(gray)
    points = np.argwhere(ink)
    if len(points) < _FEWEST_POINTS:
        return 0.0, 0.0
    rows, columns = points[:: -(-len(points) // _MOST_POINTS)].astype(np.float64).T
    most = max(ink.shape)
    return _sharpest(rows, columns, most), -_sharpest(columns, rows, most)


def _shrunk(gray: Gray) -> Gray:
    scale = min(1.0, max(_SIDE / max(gray.shape), _LEAST_SHORT_SIDE / min(gray.shape)))
    size = (max(int(gray.shape[1] * scale), 1), max(int(gray.shape[0] * scale), 1))
    return np.asarray(Image.fromarray(gray).resize(size, Image.Resampling.BILINEAR))


def letters(gray: Gray) -> npt.NDArray[np.bool_]:
    """True for pixels that are darker than their surround, without areas of solid ink; a page has 900 on a side."""
    gray = _shrunk(gray)
    picture = Image.fromarray(gray)
    small = (max(picture.width // 16, 1), max(picture.height // 16, 1))
    surround = picture.resize(small, Image.Resampling.BOX).filter(ImageFilter.MaxFilter(3))
    paper = np.asarray(surround.resize(picture.size, Image.Resampling.BILINEAR)).astype(np.int16)
    dark = paper - gray.astype(np.int16) > np.maximum(_DARKER, paper // _DARKER_SHARE)
    solid = _blurred(_blurred(dark, _SOLID_RADIUS) > _SOLID_LEVEL, _SOLID_MARGIN) > 0
    return np.asarray(dark & ~solid)


def _blurred(flags: npt.NDArray[np.bool_], radius: int) -> Gray:
    return np.asarray(Image.fromarray(flags.astype(np.uint8) * 255).filter(ImageFilter.BoxBlur(radius)))


def _sharpest(along: Floats, across: Floats, most: int) -> float:
    """The angle under which the points, summed along it, change most from one line of pixels to the next."""

    def sharpness(degrees: float) -> float:
        lines = (along - across * math.tan(math.radians(degrees)) + most).astype(np.int64)
        change = np.diff(np.bincount(lines, minlength=3 * most))
        return float((change * change).sum())

    angles = np.arange(-_WIDEST, _WIDEST + _COARSE / 2, _COARSE)
    tried = np.array([sharpness(angle) for angle in angles.tolist()])
    if tried.max() < _CLEARLY * np.median(tried):
        tried[abs(angles) > _USUAL] = 0
    coarse = float(angles[tried.argmax()])
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
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0, 0, 1]])
    turn[:2, 2] = (width / 2, height / 2) - turn[:2, :2] @ (width / 2, height / 2)
    gray, turn = _mapped(gray, turn)
    return gray, turn @ matrix


def without_perspective(page: Gray, lines: Floats) -> tuple[Gray, Matrix] | None:
    """The picture of a page seen from aside, as seen from above; None if its lines are parallel, as most are.

    Args:
        lines: [n, 3]: the height at which each of them crosses the picture's middle, its slope, and its length.
    """
    if len(lines) < _FEWEST_LINES:
        return None
    down, slopes, lengths = np.asarray(lines, np.float64).T
    narrower, at_top = np.polyfit(down, slopes, 1, w=lengths)
    off = abs(at_top + narrower * down - slopes)
    near = off <= max(_MOST_OFF, float(np.median(off)) * 2)
    narrower, at_top = np.polyfit(down[near], slopes[near], 1, w=lengths[near])
    fan = abs(narrower) * float(np.ptp(down[near]))
    if fan < _LEAST_FAN or fan < _TIMES_OFF * float(np.median(abs(at_top + narrower * down - slopes))):
        return None
    middle = page.shape[1] / 2
    if abs(narrower) * middle > _MOST_NARROWING:
        return None
    # Lines y = y0 + (at_top + narrower * y0) * (x - middle) meet in a point, which goes to infinity.
    return _mapped(
        page,
        np.array(
            [
                [1 + narrower * middle, 0.0, -narrower * middle**2],
                [-at_top, 1.0, at_top * middle],
                [narrower, 0.0, 1 - narrower * middle],
            ]
        ),
    )


def _mapped(gray: Gray, matrix: Matrix) -> tuple[Gray, Matrix]:
    """The picture under a matrix, whose sides move outward to the ink that would be cut off; and the whole matrix."""
    ink = letters(gray)
    sides, shrunk = np.array(gray.shape[::-1]), np.array(ink.shape[::-1])
    places = moved((np.argwhere(ink)[:, ::-1] + 0.5) * (sides / shrunk), matrix)
    before, beyond = -places.min(axis=0, initial=0), (places - sides).max(axis=0, initial=0)
    left, top, right, bottom = (
        math.ceil(side + _EDGE) if side > 0 else 0 for side in np.concatenate((before, beyond)).tolist()
    )
    matrix = np.array([[1.0, 0.0, left], [0.0, 1.0, top], [0.0, 0.0, 1.0]]) @ matrix
    back = np.linalg.inv(matrix)
    picture = Image.fromarray(gray).transform(
        (left + gray.shape[1] + right, top + gray.shape[0] + bottom),
        Image.Transform.PERSPECTIVE,
        (back / back[2, 2]).ravel()[:8].tolist(),
        Image.Resampling.BILINEAR,
        fillcolor=255,
    )
    return np.asarray(picture), matrix


def moved(points: Floats, matrix: Matrix) -> Floats:
    """Points [n, 2] under a matrix."""
    homogeneous = points @ matrix[:, :2].T + matrix[:, 2]
    return np.asarray(homogeneous[:, :2] / homogeneous[:, 2:])


def upside_down(gray: Gray) -> tuple[Gray, Matrix]:
    """The picture turned by half."""
    height, width = gray.shape
    return gray[::-1, ::-1].copy(), np.array([[-1.0, 0.0, width], [0.0, -1.0, height], [0.0, 0.0, 1.0]])
