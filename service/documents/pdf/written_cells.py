"""Cells of a drawn PDF page or picture that look written on, and the regions that they form.

The page is divided into square *cells*. A cell looks written on if it shows a few strokes beside each other on a plain
ground; rules, photographs, charts and codes of squares do not.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image, ImageFilter

from service.documents.document import Box
from service.documents.pdf.angles import Flags, Floats

CELL_POINTS = 12.0
MOST_CELLS = 16_000
"""Most cells of one page; a larger page (an A1 sheet has 12,000) has larger cells."""
MOST_REGIONS = 16
"""Boxes said for one reason."""
_FEWEST_ON_SCAN, _FEWEST_UNREAD = 12, 5
"""Cells of a region on a recognized page, and on a recognized picture (a signature), that is writing."""
_PIXELS = 16  # of a cell's side
_SMALLEST_REGION, _REACH = 6, 2  # in cells; a region's cells are at most so far from each other

Gray = npt.NDArray[np.uint8]
Region = npt.NDArray[np.intp]
"""Cells as [row, column] pairs, from the top."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a page as shown, `size` points wide and high each."""

    rows: int
    columns: int
    size: float
    width: float
    height: float

    @classmethod
    def of(cls, width: float, height: float) -> Grid:
        width, height = max(width, 1.0), max(height, 1.0)
        size = max(CELL_POINTS, math.sqrt(width * height / MOST_CELLS), max(width, height) / MOST_CELLS)
        rows, columns = (2 * math.ceil(side / size / 2) for side in (height, width))
        return cls(rows, columns, size, width, height)

    def painted(self, boxes: Floats) -> Flags:
        """True for the cells that one of the boxes [left, top, right, bottom] touches."""
        edges = np.zeros((self.rows + 1, self.columns + 1), np.int32)
        if len(boxes):
            first = np.nan_to_num(boxes[:, :2] / self.size).clip(0, None)
            last = np.nan_to_num(boxes[:, 2:] / self.size).clip(-1, None)
            on_page = (first < (self.columns, self.rows)).all(axis=1) & (last > 0).all(axis=1)
            left, top = first[on_page].astype(np.int32).T
            right, bottom = np.ceil(last[on_page]).astype(np.int32).T
            right, bottom = right.clip(left + 1, self.columns), bottom.clip(top + 1, self.rows)
            for row, column, step in ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)):
                np.add.at(edges, (row, column), step)
        return np.asarray(edges.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0)

    def scaled(self, gray: Gray) -> Gray:
        """uint8 [rows * 16, columns * 16]: a picture of the page in this size, with white beside it."""
        drawn = np.full((self.rows * _PIXELS, self.columns * _PIXELS), 255, np.uint8)
        wide = min(max(round(self.width * _PIXELS / self.size), 1), drawn.shape[1])
        high = min(max(round(self.height * _PIXELS / self.size), 1), drawn.shape[0])
        drawn[:high, :wide] = np.asarray(Image.fromarray(gray).resize((wide, high), Image.Resampling.BOX))
        return drawn

    def is_script(self, drawn: Gray, region: Region) -> bool:
        """True if a region of a drawn page has strokes of script."""
        (top, left), (bottom, right) = region.min(axis=0), region.max(axis=0) + 1
        part = drawn[top * _PIXELS : bottom * _PIXELS, left * _PIXELS : right * _PIXELS]
        return has_strokes_of_script(part, right - left, bottom - top)

    def unsharp(self, gray: Gray) -> Gray:
        """The same without a fax's gray paper, which is dots."""
        return np.asarray(Image.fromarray(self.scaled(gray)).filter(ImageFilter.BoxBlur(1)))

    def drawn(self, page: Any, places: Floats | None = None) -> Gray:
        """uint8 [rows * 16, columns * 16]: the page's grey values, or those of some places on it, white elsewhere."""
        scale = _PIXELS / self.size
        matrix = pdfium.FS_MATRIX(scale, 0, 0, scale, 0, 0)
        clips = [pdfium.FS_RECTF(0, 0, self.columns * _PIXELS, self.rows * _PIXELS)]
        if places is not None:
            clips = [pdfium.FS_RECTF(*place) for place in (places * scale).tolist()]
        bitmap = pypdfium2.PdfBitmap.new_native(self.columns * _PIXELS, self.rows * _PIXELS, pdfium.FPDFBitmap_Gray)
        try:
            pdfium.FPDFBitmap_FillRect(bitmap.raw, 0, 0, bitmap.width, bitmap.height, 0xFFFFFFFF)
            for clip in clips:
                pdfium.FPDF_RenderPageBitmapWithMatrix(bitmap.raw, page, matrix, clip, pdfium.FPDF_GRAYSCALE)
            return np.array(bitmap.to_numpy())
        finally:
            bitmap.close()

    def is_near(self, region: Region, cells: Flags) -> bool:
        """True if one of some cells is as near to a region as those of one line are to each other."""
        top, left = (region.min(axis=0) - _REACH).clip(0)
        bottom, right = region.max(axis=0) + _REACH + 1
        return bool(cells[top:bottom, left:right].any())

    def around(self, region: Region, within: Floats | None = None) -> Box:
        """The box around a region and the cells beside it, within another box: letters may reach beyond it."""
        left, top, right, bottom = self.box(region)
        box = np.array((left - self.size, top - self.size, right + self.size, bottom + self.size), np.float32)
        edges = np.array((0, 0, self.width, self.height), np.float32) if within is None else within
        low, high = edges[[0, 1, 0, 1]], edges[[2, 3, 2, 3]]
        return self.rounded(box.clip(low, high))

    def rounded(self, box: Floats) -> Box:
        """A box in tenths of a point."""
        left, top, right, bottom = (round(side, 1) for side in box.tolist())
        return left, top, right, bottom

    def digest(self, drawn: Gray | None, places: Sequence[Box]) -> int:
        """A number for what a drawn page shows at some places; 0 if there are none, or it was not drawn."""
        if drawn is None or not places:
            return 0
        said = hashlib.blake2b(repr(places).encode(), digest_size=7)
        for place in places:
            left, top, right, bottom = (round(side * _PIXELS / self.size) for side in place)
            said.update(drawn[top:bottom, left:right].tobytes())
        return int.from_bytes(said.digest(), "big")

    def box(self, region: Region) -> Box:
        """The box around a region's cells, within the page."""
        top, left = (region.min(axis=0) * self.size).tolist()
        bottom, right = ((region.max(axis=0) + 1) * self.size).tolist()
        return round(left, 1), round(top, 1), round(min(right, self.width), 1), round(min(bottom, self.height), 1)


_MOST_SCRIPT, _LEAST_CLOSE, _MOST_ACROSS = 0.18, 1.15, 16
"""Share of ink, and strokes in a row, or a column, for each cell, of which so many are enough."""
_MOST_BETWEEN, _MOST_SHADED = 0.25, 0.3
"""Share of a cell's pixels that are neither light nor dark, and of a page's cells with more such pixels."""
_LEAST_CONTRAST = 64  # between a cell's darkest and lightest pixel, of 255
_MOST_INK = 0.4  # of a cell's pixels; a QR code has half
_LEAST_INK = 0.04
_LEAST_GROUND = 0.45  # of a cell's pixels, within a quarter of its contrast from its ground; less in a photograph
_STROKES = 3  # changes between ink and ground in a row of pixels: a rule makes two
_STROKED_ROWS, _STROKED_COLUMNS = 4, 6  # pixel rows with so many changes, and pixel columns with any


def written_cells(pixels: Gray, covered: Flags) -> Flags:
    """The cells of a drawn page that look written on and are not covered.

    Large letters look so in the page at half its size, whose cells are four of these.
    """
    rows, columns = covered.shape
    pairs = pixels[::2].astype(np.uint16) + pixels[1::2]
    half = ((pairs[:, ::2] + pairs[:, 1::2]) // 4).astype(np.uint8)
    large = _written(half) & ~covered.reshape(rows // 2, 2, columns // 2, 2).any(axis=(1, 3))
    return (_written(pixels) & ~covered) | large.repeat(2, axis=0).repeat(2, axis=1)


def _written(pixels: Gray) -> Flags:
    rows, columns = pixels.shape[0] // _PIXELS, pixels.shape[1] // _PIXELS
    cells = pixels.reshape(rows, _PIXELS, columns, _PIXELS)
    low, high = (each(each(cells, axis=1), axis=2).astype(np.int16) for each in (np.min, np.max))
    written = high - low >= _LEAST_CONTRAST
    chosen = cells.transpose(0, 2, 1, 3)[written].astype(np.int16)
    low, high = low[written][:, None, None], high[written][:, None, None]
    dark = chosen * 2 < low + high
    is_inverted = dark.mean(axis=(1, 2)) > 0.5
    ink = dark ^ is_inverted[:, None, None]
    ground = np.where(is_inverted[:, None, None], low, high)
    plain = (abs(chosen - ground) * 4 <= high - low).mean(axis=(1, 2)) >= _LEAST_GROUND
    share = ink.mean(axis=(1, 2))
    stroked_rows = ((ink[:, :, 1:] != ink[:, :, :-1]).sum(axis=2) >= _STROKES).sum(axis=1)
    stroked_columns = (ink[:, 1:] != ink[:, :-1]).any(axis=1).sum(axis=1)
    is_text = plain & (share >= _LEAST_INK) & (share <= _MOST_INK)
    written[written] = is_text & (stroked_rows >= _STROKED_ROWS) & (stroked_columns >= _STROKED_COLUMNS)
    return np.asarray(written)


def regions_of(cells: Flags, smallest: int = _SMALLEST_REGION) -> list[Region]:
    """Groups of near cells; groups of few cells are left out."""
    left = set(map(tuple, np.argwhere(cells).tolist()))
    steps = range(-_REACH, _REACH + 1)
    regions: list[Region] = []
    for start in sorted(left):
        if start not in left:
            continue
        left.discard(start)
        region: list[Sequence[int]] = [start]
        for row, column in region:
            near = {(row + down, column + across) for down in steps for across in steps} & left
            left -= near
            region += near
        if len(region) >= smallest:
            regions.append(np.array(region, np.intp))
    return regions


def writing_beside(gray: Gray, size: tuple[float, float], read: Floats) -> tuple[Box, ...]:
    """The boxes around what looks written on a page's gray picture where nothing was read; of a size in points."""
    grid = Grid.of(*size)
    regions = regions_of(written_cells(grid.unsharp(gray), grid.painted(read)), _FEWEST_ON_SCAN)
    return tuple(grid.box(region) for region in sorted(regions, key=len)[-MOST_REGIONS:])


def script_beside(gray: Gray, size: tuple[float, float], read: Floats) -> tuple[Box, ...]:
    """The same of a picture on a page, which may lie on its side, and may be a chart, a code or a sign."""
    grid, known = Grid.of(*size), read * (gray.shape[1] / size[0])
    gray, ground = gray.copy(), np.median(gray)
    for left, top, right, bottom in known.round().astype(int).clip(0, None).tolist():
        gray[top:bottom, left:right] = ground
    pixels, covered = grid.unsharp(gray), grid.painted(read)
    written = written_cells(pixels, covered) | written_cells(pixels.T, covered.T).T
    boxes = [grid.box(region) for region in regions_of(written, _FEWEST_UNREAD)]
    across, down = gray.shape[1] / size[0], gray.shape[0] / size[1]

    def is_script(box: Box) -> bool:
        left, top, right, bottom = box
        part = gray[int(top * down) : math.ceil(bottom * down), int(left * across) : math.ceil(right * across)]
        return has_strokes_of_script(part, (right - left) / CELL_POINTS, (bottom - top) / CELL_POINTS)

    return tuple(filter(is_script, boxes))[:MOST_REGIONS]


def has_strokes_of_script(gray: Gray, columns: float, rows: float) -> bool:
    """True if a part of a picture, of so many cells, has strokes as close as letters and as thin as a pen's.

    Charts and outlined shapes have fewer strokes in a row, icons and codes of squares or bars more ink.
    """
    levels = gray.astype(np.int16)
    if min(levels.shape) < 2:
        return False
    dark = levels * 2 < int(levels.min()) + int(levels.max())
    ink = dark ^ (dark.mean() > 0.5)
    in_rows = float(np.percentile((ink[:, 1:] != ink[:, :-1]).sum(axis=1), 90)) / 2
    in_columns = float(np.percentile((ink[1:] != ink[:-1]).sum(axis=0), 90)) / 2
    is_close = max(in_rows / min(columns, _MOST_ACROSS), in_columns / min(rows, _MOST_ACROSS)) >= _LEAST_CLOSE
    return bool(ink.mean() <= _MOST_SCRIPT and is_close)


def has_shades(gray: Gray, size: tuple[float, float]) -> bool:
    """True if a large part of a page's gray picture is a photograph or noise, not paper with strokes and bars."""
    grid = Grid.of(*size)
    cells = grid.scaled(gray).reshape(grid.rows, _PIXELS, grid.columns, _PIXELS).transpose(0, 2, 1, 3).astype(np.int16)
    low, high = cells.min(axis=(2, 3), keepdims=True), cells.max(axis=(2, 3), keepdims=True)
    is_between = np.minimum(cells - low, high - cells) * 4 > high - low
    shaded = (high - low >= _LEAST_CONTRAST)[..., 0, 0] & (is_between.mean(axis=(2, 3)) > _MOST_BETWEEN)
    return bool(shaded.mean() > _MOST_SHADED)
