"""Coverage of a PDF page: finds writing on it that no text was read from, in images, in outlines and in broken fonts.

    page objects → are there images or outlines that the text leaves free? → the page drawn → cells that look written on
    → those that no character covers, in regions

The page is divided into square *cells*. A cell looks written on if it shows a few strokes beside each other on a plain
ground; rules, photographs, charts and codes of squares do not. Characters without a Unicode value count as not read.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image, ImageFilter

from service.documents.document import Box, UnreadReason
from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.glyphs import REPLACEMENT, Glyphs, PageFrame
from service.documents.pdf.hidden_text import is_doubtful
from service.documents.pdf.outlines import outline_rows, outline_segments
from service.documents.pdf.page_objects import Painted, address

CELL_POINTS = 12.0
MOST_CELLS = 16_000
"""Most cells of one page; a larger page (an A1 sheet has 12,000) has larger cells."""
FEWEST_WRITTEN = 90
"""Cells that look written on and were not read: fewer are a logo, a signature or a stamp. 90 are three A4 lines."""
_SCAN, _FEWEST_ON_SCAN = 0.7, 12
"""Share of a page's cells in images from which, with more writing than was read, so few written cells are a line."""
MOST_COVERED = 0.4
"""Share of the images' cells with characters; above it they have a text layer, or stand behind a page of text."""
HEAD, FOOT = 0.2, 0.12
"""Shares of a page's height from its upper and its lower edge: the places of a letterhead."""
TEXT_LAYER = 2
"""Cells of images with characters for each that looks written on and has none: from here on they have a text layer,
whose lines may end before those of the picture."""
LEAST_READ = 0.1
"""Share of a page's written cells; below it a page counts as unread, such as a scan with a stamp on it."""

_PIXELS = 16  # of a cell's side
_FEWEST_SEGMENTS = 1_000  # of all filled outlines of a page: 50 letters have about as many
_SMALLEST_REGION, _REACH = 6, 2  # in cells; a region's cells are at most so far from each other
_MOST_REGIONS = 16  # boxes said for one reason


@dataclass(frozen=True, slots=True)
class Coverage:
    """The unread parts of one page: whether they are nearly all of it, and the boxes for each reason."""

    is_unread: bool = False
    parts: tuple[tuple[UnreadReason, tuple[Box, ...]], ...] = ()
    was_drawn: bool = False


def page_coverage(
    page: Any, objects: Sequence[Painted], glyphs: Glyphs, *, are_all: bool = True, may_draw: bool
) -> Coverage:
    """The coverage of a loaded page.

    Args:
        objects: of the page; `are_all`: none was left out, else it is drawn as if there were many outlines.
        glyphs: of the page.
        may_draw: False: images that the text leaves free count as written on without being looked at.
    """
    images, segments = _images(objects), outline_segments(objects) if are_all else _FEWEST_SEGMENTS
    rows = outline_rows(objects) if segments else np.zeros((0, 4), np.float32)
    if not (len(images) or segments >= _FEWEST_SEGMENTS or len(rows) or len(glyphs.unmapped)):
        return Coverage(is_unread=bool(len(glyphs.codes)) and bool((glyphs.codes == REPLACEMENT).all()))
    grid, frame = _Grid.of(glyphs.width, glyphs.height), PageFrame.of(page)
    image_cells = grid.painted(frame.shown(images))
    has_text = bool((glyphs.codes != REPLACEMENT).any())
    if not has_text and len(images):
        return Coverage(is_unread=True)
    if len(images) and is_doubtful(objects, glyphs):
        return Coverage(is_unread=True)
    read, broken = grid.painted(glyphs.ink), grid.painted(glyphs.unmapped)
    free = image_cells & ~read
    are_images_free = free.sum() >= FEWEST_WRITTEN and free.sum() > (1 - MOST_COVERED) * image_cells.sum()
    unread, was_drawn = np.zeros_like(read), False
    if segments >= _FEWEST_SEGMENTS or (are_images_free and may_draw):
        unread, was_drawn = written_cells(grid.drawn(page), read | broken), True
    elif are_images_free:
        unread = free & ~broken
    if segments < _FEWEST_SEGMENTS:
        unread &= image_cells
    if (read & image_cells).sum() >= TEXT_LAYER * (unread & image_cells).sum():
        unread &= ~image_cells
    regions = _regions(unread)
    if read.sum() >= unread.sum():
        regions = [region for region in regions if not grid.is_letterhead(region)]
    is_scan = image_cells.mean() >= _SCAN and unread.sum() > read.sum()
    if sum(map(len, regions)) < (_FEWEST_ON_SCAN if is_scan else FEWEST_WRITTEN):
        regions = []
    lines = [] if regions else _regions(grid.painted(frame.shown(rows)) & ~(read | image_cells))
    regions += [line for line in lines if not grid.is_letterhead(line)]
    missed = sum(map(len, regions)) + broken.sum()
    is_unread = bool(missed) and (not has_text or read.sum() < LEAST_READ * (read.sum() + missed))
    if not has_text:
        return Coverage(is_unread, (), was_drawn)
    return Coverage(is_unread, _parts(grid, regions, image_cells, broken), was_drawn)


def writing_beside(gray: npt.NDArray[np.uint8], size: tuple[float, float], read: Floats) -> tuple[Box, ...]:
    """The boxes around what looks written on a page's gray picture where nothing was read; of a size in points."""
    grid = _Grid.of(*size)
    unsharp = Image.fromarray(grid.scaled(gray)).filter(ImageFilter.BoxBlur(1))  # a fax's gray paper is dots
    regions = _regions(written_cells(np.asarray(unsharp), grid.painted(read)), _FEWEST_ON_SCAN)
    return tuple(grid.box(region) for region in sorted(regions, key=len)[-_MOST_REGIONS:])


def has_shades(gray: npt.NDArray[np.uint8], size: tuple[float, float]) -> bool:
    """True if a large part of a page's gray picture is a photograph or noise, not paper with strokes and bars."""
    grid = _Grid.of(*size)
    cells = grid.scaled(gray).reshape(grid.rows, _PIXELS, grid.columns, _PIXELS).transpose(0, 2, 1, 3).astype(np.int16)
    low, high = cells.min(axis=(2, 3), keepdims=True), cells.max(axis=(2, 3), keepdims=True)
    is_between = np.minimum(cells - low, high - cells) * 4 > high - low
    shaded = (high - low >= _LEAST_CONTRAST)[..., 0, 0] & (is_between.mean(axis=(2, 3)) > _MOST_BETWEEN)
    return bool(shaded.mean() > _MOST_SHADED)


def _parts(
    grid: _Grid, regions: Sequence[npt.NDArray[np.intp]], image_cells: Flags, broken: Flags
) -> tuple[tuple[UnreadReason, tuple[Box, ...]], ...]:
    """The boxes for each reason."""
    by_reason: dict[UnreadReason, list[Box]] = {}
    for region in regions:
        in_images = image_cells[region[:, 0], region[:, 1]].mean() >= 0.5
        reason = UnreadReason.IMAGE if in_images else UnreadReason.OUTLINES
        by_reason.setdefault(reason, []).append(grid.box(region))
    if broken.any():
        by_reason[UnreadReason.UNMAPPED] = [grid.box(region) for region in _regions(broken, smallest=1)]
    return tuple((reason, tuple(boxes[:_MOST_REGIONS])) for reason, boxes in by_reason.items())


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of a page as shown, `size` points wide and high each."""

    rows: int
    columns: int
    size: float
    width: float
    height: float

    @classmethod
    def of(cls, width: float, height: float) -> _Grid:
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

    def scaled(self, gray: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """uint8 [rows * 16, columns * 16]: a picture of the page in this size, with white beside it."""
        drawn = np.full((self.rows * _PIXELS, self.columns * _PIXELS), 255, np.uint8)
        wide = min(max(round(self.width * _PIXELS / self.size), 1), drawn.shape[1])
        high = min(max(round(self.height * _PIXELS / self.size), 1), drawn.shape[0])
        drawn[:high, :wide] = np.asarray(Image.fromarray(gray).resize((wide, high), Image.Resampling.BOX))
        return drawn

    def drawn(self, page: Any) -> npt.NDArray[np.uint8]:
        """uint8 [rows * 16, columns * 16]: the page's grey values."""
        wide, high = (round(side * _PIXELS / self.size) for side in (self.width, self.height))
        bitmap = pypdfium2.PdfBitmap.new_native(self.columns * _PIXELS, self.rows * _PIXELS, pdfium.FPDFBitmap_Gray)
        try:
            pdfium.FPDFBitmap_FillRect(bitmap.raw, 0, 0, bitmap.width, bitmap.height, 0xFFFFFFFF)
            pdfium.FPDF_RenderPageBitmap(bitmap.raw, page, 0, 0, max(wide, 1), max(high, 1), 0, pdfium.FPDF_GRAYSCALE)
            return np.array(bitmap.to_numpy()).reshape(bitmap.height, -1)[:, : bitmap.width]
        finally:
            bitmap.close()

    def is_letterhead(self, region: npt.NDArray[np.intp]) -> bool:
        """True if a region lies in the page's head or foot."""
        top, bottom = region[:, 0].min() * self.size, (region[:, 0].max() + 1) * self.size
        return bool(bottom <= HEAD * self.height + self.size or top >= (1 - FOOT) * self.height - self.size)

    def box(self, region: npt.NDArray[np.intp]) -> Box:
        """The box around a region's cells, within the page."""
        top, left = (region.min(axis=0) * self.size).tolist()
        bottom, right = ((region.max(axis=0) + 1) * self.size).tolist()
        return round(left, 1), round(top, 1), round(min(right, self.width), 1), round(min(bottom, self.height), 1)


def _images(objects: Sequence[Painted]) -> Floats:
    """Boxes of the page's images, or of the forms that hold one, in its own space."""
    images = {address(each.outer): each.outer for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE}
    return np.array(list(map(_bounds, images.values())), np.float32).reshape(-1, 4)


def _bounds(thing: Any) -> tuple[float, float, float, float]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(thing, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


_MOST_BETWEEN, _MOST_SHADED = 0.25, 0.3
"""Share of a cell's pixels that are neither light nor dark, and of a page's cells with more such pixels."""
_LEAST_CONTRAST = 64  # between a cell's darkest and lightest pixel, of 255
_MOST_INK = 0.4  # of a cell's pixels; a QR code has half
_LEAST_INK = 0.04
_LEAST_GROUND = 0.45  # of a cell's pixels, within a quarter of its contrast from its ground; less in a photograph
_STROKES = 3  # changes between ink and ground in a row of pixels: a rule makes two
_STROKED_ROWS, _STROKED_COLUMNS = 4, 6  # pixel rows with so many changes, and pixel columns with any


def written_cells(pixels: npt.NDArray[np.uint8], covered: Flags) -> Flags:
    """The cells of a drawn page that look written on and are not covered.

    Large letters look so in the page at half its size, whose cells are four of these.
    """
    rows, columns = covered.shape
    pairs = pixels[::2].astype(np.uint16) + pixels[1::2]
    half = ((pairs[:, ::2] + pairs[:, 1::2]) // 4).astype(np.uint8)
    large = _written(half) & ~covered.reshape(rows // 2, 2, columns // 2, 2).any(axis=(1, 3))
    return (_written(pixels) & ~covered) | large.repeat(2, axis=0).repeat(2, axis=1)


def _written(pixels: npt.NDArray[np.uint8]) -> Flags:
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


def _regions(cells: Flags, smallest: int = _SMALLEST_REGION) -> list[npt.NDArray[np.intp]]:
    """Groups of near cells as [row, column] pairs, from the top; groups of few cells are left out."""
    left = set(map(tuple, np.argwhere(cells).tolist()))
    steps = range(-_REACH, _REACH + 1)
    regions: list[npt.NDArray[np.intp]] = []
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
