"""Finds the lines of text in a straight page's picture: connected parts of the detection network's map, as bands.

The network marks the inside of a line, so a band is grown by a share of its area over its perimeter, as in its
training (DB, Liao et al., AAAI 2020). A band has the slope of its own pixels, by least squares.

The network weighs its features by their mean over the picture, so it overlooks a word that is alone on a page. Where
it finds few lines, it sees each place with ink once more by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from service.documents.ocr.networks import STRIP_HEIGHT, Floats, TextNetworks
from service.documents.ocr.straighten import Gray, letters

SIDE = 1_280
"""Pixels of the longer side of the picture that the network sees."""
_LONGER, _SHORT_SIDE, _MOST_SEEN = 2.5, 400, 4_600_000
"""Longer side in shorter ones from which a picture is seen in parts, since a receipt is too small as a whole; and most
pixels then of its shorter side and of all."""
_LEAST_HEIGHT, _CLOSER = 6.5, 2.5
"""Pixels of the middling line of such a picture, and how much closer it is seen if it has less, as on a web page."""
_SHARED = 256
"""Least pixels that are in two parts; in each of them lines at its edge may be cut."""
_MULTIPLE = 32
_LEAST_PROBABILITY = 0.3
"""Compared with a pixel of the map: it belongs to a line."""
_LEAST_MEAN = 0.45
"""Compared with the mean of a part's pixels: it is a line."""
_SMALLEST = 3
"""Pixels of the map; a part that is thinner is none."""
_GROWTH = 1.6
_FULL = 1.12
"""A band's height over its pixels by its width: the map's parts have round ends."""
_LONG, _STEEPEST = 3, 0.2  # a part so many times as long as high has a slope; of a level page, a steeper one has none
_TILTED = 6
"""Length over height of a part that shows how the page lies; a word falls behind its capital."""
_UPRIGHT = 1.5
"""Height over width of a part that stands upright, as words do on a page that lies on its side."""
LEAST_CONTRAST = 30
"""Levels between the dark and the light pixels of a line's picture; one with less is taken as without ink."""
_LARGE = 0.3
"""Share of a page's sides; a part longer both ways and without ink is noisy paper that the network may mark."""
_FEW = 3
"""Lines of a page; where more are found, none was overlooked for being alone."""
_CELL, _AROUND = 8, 3
"""Pixels of a side of the squares that have ink or none, and the squares of paper that are seen around a place."""
_LEAST_INK, _MOST_PLACES, _MOST_OF_PAGE = 6, 12, 0.5
"""Pixels of ink that no line covers in a place, places that are seen again, and the largest one's share of the page."""


@dataclass(frozen=True, slots=True)
class Band:
    """One line of text: from left to right, its middle at the left end, its slope and its height; pixels."""

    left: float
    right: float
    middle: float
    slope: float
    height: float

    @property
    def width(self) -> float:
        return self.right - self.left

    def middle_at(self, across: float) -> float:
        """Its middle at a distance from the page's left edge."""
        return self.middle + self.slope * (across - self.left)


class _Parts(NamedTuple):
    """Connected parts of a map, an array [parts] of each figure."""

    left: Floats
    right: Floats
    top: Floats
    bottom: Floats
    pixels: Floats
    mean: Floats
    middle: Floats
    slope: Floats
    tilt: Floats
    flatness: Floats


class FoundLines(NamedTuple):
    """The lines of a picture.

    `on_side`: more of its text stands upright than level. `tilt`: the middling one of its long lines, degrees
    clockwise; 0 if there are few.
    """

    bands: list[Band]
    on_side: bool
    tilt: float


def find_bands(gray: Gray, networks: TextNetworks) -> FoundLines:
    """The lines of a picture."""
    bands, upright, tilt = _seen(gray, networks)
    for left, top, right, bottom in _places(gray, bands) if len(bands) <= _FEW or _is_long(gray) else ():
        found, more, _ = _seen(gray[top:bottom, left:right], networks)
        if found:
            others = (each for each in bands if not (left <= each.left <= right and top <= each.middle <= bottom))
            moved = (
                replace(each, left=each.left + left, right=each.right + left, middle=each.middle + top)
                for each in found
            )
            bands, upright = [*others, *moved], upright + more
    return FoundLines(bands, upright > 0, tilt)


def _places(gray: Gray, bands: Sequence[Band]) -> Iterator[tuple[int, int, int, int]]:
    """The places whose ink lies mostly outside of the bands, with paper around: left, top, right and bottom, pixels."""
    ink = letters(gray)
    scale = max(gray.shape) / max(ink.shape)
    missed = ink.copy()
    for band in bands:
        middle = band.middle_at((band.left + band.right) / 2)
        sides = (band.left, middle - band.height / 2, band.right, middle + band.height / 2)
        left, top, right, bottom = (max(int(side / scale), 0) for side in sides)
        missed[top : bottom + 1, left : right + 1] = False
    padded = np.pad(ink, [(0, -side % _CELL) for side in ink.shape])
    rows, columns = (side // _CELL for side in padded.shape)
    cells = padded.reshape(rows, _CELL, columns, _CELL).any(axis=(1, 3))
    near = np.asarray(Image.fromarray(cells.astype(np.uint8)).filter(ImageFilter.MaxFilter(2 * _AROUND + 1)))
    parts = _connected(near > 0, near.astype(np.float32))
    places = np.stack(parts[:4], axis=1).astype(np.int64) * _CELL if parts else np.zeros((0, 4), np.int64)
    found = list[tuple[int, tuple[int, int, int, int]]]()
    for left, right, top, bottom in places.tolist():
        area = slice(top, bottom), slice(left, right)
        count, of = int(missed[area].sum()), int(ink[area].sum())
        box = int(left * scale), int(top * scale), math.ceil(right * scale), math.ceil(bottom * scale)
        if count >= max(_LEAST_INK, of / 2) and (right - left) * (bottom - top) <= _MOST_OF_PAGE * ink.size:
            found.append((count, box))
    yield from (box for _, box in sorted(found, reverse=True)[:_MOST_PLACES])


def _seen(gray: Gray, networks: TextNetworks, short_side: float = _SHORT_SIDE) -> tuple[list[Band], float, float]:
    """The lines that the network sees, how much more of their area stands upright than level, and their tilt."""
    height, width = gray.shape
    scale = min(1.0, SIDE / max(height, width))
    if _is_long(gray):
        scale = min(1.0, short_side / min(height, width), math.sqrt(_MOST_SEEN / (height * width)))
    rows, columns = (max(_MULTIPLE, round(side * scale / _MULTIPLE) * _MULTIPLE) for side in (height, width))
    small = Image.fromarray(gray).resize((columns, rows), Image.Resampling.BILINEAR)
    probability = _probability(np.asarray(small), networks)
    parts = _connected(probability > _LEAST_PROBABILITY, probability)
    if parts is None:
        return [], 0.0, 0.0
    wide, high = parts.right - parts.left, parts.bottom - parts.top
    kept = (np.minimum(wide, high) >= _SMALLEST) & (parts.mean >= _LEAST_MEAN)
    for part in np.flatnonzero((wide > _LARGE * columns) & (high > _LARGE * rows)).tolist():
        kept[part] &= _has_ink(small, *(int(each[part]) for each in (parts.left, parts.top, parts.right, parts.bottom)))
    area = np.where(kept, wide * high, 0)
    upright = float(area[high > _UPRIGHT * wide].sum() - area[wide > _UPRIGHT * high].sum())
    has_slope = (wide >= _LONG * high) & (np.abs(parts.slope) <= _STEEPEST)
    slope = np.where(has_slope, parts.slope, 0.0)
    middle = np.where(has_slope, parts.middle, (parts.top + parts.bottom) / 2)
    thick = np.where(has_slope, np.minimum(high, parts.pixels / np.maximum(wide, 1) * _FULL), high)
    is_small = kept.any() and np.median(thick[kept]) < _LEAST_HEIGHT
    if is_small and scale < 1 and short_side == _SHORT_SIDE and _is_long(gray):
        return _seen(gray, networks, _CLOSER * _SHORT_SIDE)
    grown = wide * thick * _GROWTH / (2 * (wide + thick))
    across, down = width / columns, height / rows
    bands = np.stack(
        (
            np.maximum((parts.left - grown) * across, 0),
            np.minimum((parts.right + grown) * across, width),
            (middle - slope * grown) * down,
            slope * down / across,
            (thick + 2 * grown) * down,
        ),
        axis=1,
    )
    return (
        [Band(*figures) for figures in bands[kept].tolist()],
        upright,
        _middling_tilt(parts, kept & (parts.flatness > _TILTED)),
    )


def _is_long(gray: Gray) -> bool:
    short, long = sorted(gray.shape)
    return bool(long > _LONGER * short)


def _probability(picture: Gray, networks: TextNetworks) -> Floats:
    """The network's map of a picture; where two parts share pixels, each is of the part whose edge is further away."""
    axis = int(np.argmax(picture.shape))
    length = picture.shape[axis]
    count = 1 + max(0, -(-(length - SIDE) // (SIDE - _SHARED)))
    starts = np.linspace(0, max(length - SIDE, 0), count).astype(int).tolist()
    borders = [0, *((end + SIDE + start) // 2 for end, start in pairwise(starts)), length]
    seen = []
    for start, (first, last) in zip(starts, pairwise(borders), strict=True):
        part = picture.take(range(start, min(start + SIDE, length)), axis)
        pixels = part.astype(np.float32) / 127.5 - 1
        found = networks.detect(np.ascontiguousarray(np.broadcast_to(pixels, (3, *part.shape))))
        seen.append(found.take(range(first - start, last - start), axis))
    return np.concatenate(seen, axis)


def _middling_tilt(parts: _Parts, chosen: npt.NDArray[np.bool_]) -> float:
    """The median of the tilts of some parts, by their pixels."""
    if chosen.sum() <= _FEW:
        return 0.0
    tilts, pixels = parts.tilt[chosen], parts.pixels[chosen]
    order = np.argsort(tilts)
    return float(tilts[order][np.searchsorted(np.cumsum(pixels[order]), pixels.sum() / 2)])


def _has_ink(page: Image.Image, left: int, top: int, right: int, bottom: int) -> bool:
    """True if a part of a page has dark and light pixels where it is as small as the recognition sees it: not noise."""
    width = max(round((right - left) / (bottom - top) * STRIP_HEIGHT), 1)
    levels = np.asarray(page.resize((width, STRIP_HEIGHT), Image.Resampling.BOX, (left, top, right, bottom)))
    darkest, lightest = (float(np.percentile(levels, percent)) for percent in (3, 85))
    return lightest - darkest >= LEAST_CONTRAST


def _connected(mask: npt.NDArray[np.bool_], probability: Floats) -> _Parts | None:
    """The parts of a map whose pixels touch, also by their corners; None without any."""
    rows, starts, ends = _runs(mask)
    if not len(rows):
        return None
    part = _joined(mask.shape[0], rows, starts, ends)
    count = int(part.max()) + 1

    def total(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(part, values, count).astype(np.float64)

    length = (ends - starts).astype(np.float64)
    down = rows + 0.5
    across = (starts + ends) / 2 * length
    pixels, sum_x, sum_y = total(length), total(across), total(down * length)
    sum_xx, sum_xy = total((ends.astype(np.float64) ** 3 - starts.astype(np.float64) ** 3) / 3), total(across * down)
    running: npt.NDArray[np.float64] = np.zeros((mask.shape[0], mask.shape[1] + 1))
    np.cumsum(probability, axis=1, out=running[:, 1:])
    mean = total(running[rows, ends] - running[rows, starts]) / pixels
    left, right = np.full(count, mask.shape[1]), np.zeros(count, np.int64)
    top, bottom = np.full(count, mask.shape[0]), np.zeros(count, np.int64)
    np.minimum.at(left, part, starts)
    np.maximum.at(right, part, ends)
    np.minimum.at(top, part, rows)
    np.maximum.at(bottom, part, rows + 1)
    spread = sum_xx / pixels - (sum_x / pixels) ** 2
    height = total(down * down * length) / pixels - (sum_y / pixels) ** 2
    both = sum_xy / pixels - sum_x / pixels * sum_y / pixels
    slope = np.where(spread > 1, both / np.maximum(spread, 1), 0.0)
    middle = sum_y / pixels + slope * (left - sum_x / pixels)
    tilt = np.degrees(np.arctan2(2 * both, spread - height)) / 2
    more = np.hypot(spread - height, 2 * both)  # variance along a part than across it, twice
    flatness = np.sqrt((spread + height + more) / np.maximum(spread + height - more, 1e-3))
    figures = (left, right, top, bottom, pixels, mean, middle, slope, tilt, flatness)
    return _Parts(*(np.asarray(each, np.float32) for each in figures))


Ends = npt.NDArray[np.int64]


def _runs(mask: npt.NDArray[np.bool_]) -> tuple[Ends, Ends, Ends]:
    """Row, start and end of each run of set pixels, row by row."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    return rows, starts, np.nonzero(steps == -1)[1]


def _joined(height: int, rows: Ends, starts: Ends, ends: Ends) -> Ends:
    """The number of each run's part: runs of neighbouring rows that touch are of one (union by walking both rows)."""
    parents = list(range(len(rows)))

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    first = np.searchsorted(rows, np.arange(height + 1)).tolist()
    begins, stops = starts.tolist(), ends.tolist()
    for row in range(1, height):
        above, here = first[row - 1], first[row]
        while above < first[row] and here < first[row + 1]:
            if begins[above] <= stops[here] and begins[here] <= stops[above]:
                parents[root(here)] = root(above)
            if stops[above] < stops[here]:
                above += 1
            else:
                here += 1
    return np.unique(np.array([root(run) for run in range(len(rows))]), return_inverse=True)[1]
