"""Coverage of a PDF page: finds writing on it that no text was read from, in images, in outlines and in broken fonts.

    page objects → are there images or outlines that the text leaves free? → the page drawn → cells that look written on
    → those that no character covers, in regions

Characters without a Unicode value count as not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.documents.document import Box, UnreadReason
from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.glyphs import REPLACEMENT, Glyphs, PageFrame
from service.documents.pdf.hidden_text import is_doubtful
from service.documents.pdf.outlines import outline_rows, outline_segments
from service.documents.pdf.page_objects import Painted
from service.documents.pdf.page_pictures import image_boxes, joined_boxes, layer_boxes
from service.documents.pdf.written_cells import MOST_REGIONS, Gray, Grid, Region, regions_of, written_cells

FEWEST_WRITTEN = 90
"""Cells of outlines that look written on and were not read: fewer are an ornament. 90 are three A4 lines."""
_FEWEST_IN_PICTURE, _FEWEST_PLAIN = 2, 12
"""The same of a region in an image: a short word, if its strokes are as close as letters, and one that may be any."""
MOST_TYPED = 0.25
"""Share of a picture's cells with characters; above it, it stands behind a text, and is not read as a whole."""
TEXT_LAYER = 2
"""Cells of a picture under hidden characters for each that looks written on and has none: from here on it has a text
layer, whose lines may end before those of the picture."""
LEAST_READ = 0.1
"""Share of a page's written cells; below it a page counts as unread, such as a scan with a stamp on it."""

_FEWEST_SEGMENTS = 1_000  # of all filled outlines of a page: 50 letters have about as many


@dataclass(frozen=True, slots=True)
class Coverage:
    """The unread parts of one page: whether they are nearly all of it, and the boxes for each reason.

    Attributes:
        pictures: the places of its pictures and lines of outlines that can be recognized one by one, whether they look
            written on or not; empty if the page has to be recognized as a whole.
        digest: of what it shows there; equal for pages that show the same. 0: not known.
    """

    is_unread: bool = False
    parts: tuple[tuple[UnreadReason, tuple[Box, ...]], ...] = ()
    was_drawn: bool = False
    pictures: tuple[Box, ...] = ()
    digest: int = 0


def page_coverage(
    page: Any, objects: Sequence[Painted], glyphs: Glyphs, *, are_all: bool = True, may_draw: bool
) -> Coverage:
    """The coverage of a loaded page.

    Args:
        objects: of the page; `are_all`: none was left out, else it is drawn as if there were many outlines.
        glyphs: of the page.
        may_draw: False: images that the text leaves free count as written on without being looked at.
    """
    frame, segments = PageFrame.of(page), outline_segments(objects) if are_all else _FEWEST_SEGMENTS
    images, layer = frame.shown(image_boxes(objects)), frame.shown(layer_boxes(objects))
    rows = outline_rows(objects) if segments else np.zeros((0, 4), np.float32)
    if not (len(images) or segments >= _FEWEST_SEGMENTS or len(rows) or len(glyphs.unmapped)):
        return Coverage(is_unread=bool(len(glyphs.codes)) and bool((glyphs.codes == REPLACEMENT).all()))
    has_text = bool((glyphs.codes != REPLACEMENT).any())
    if len(images) and (not has_text or is_doubtful(objects, glyphs)):
        return Coverage(is_unread=True)
    grid = Grid.of(glyphs.width, glyphs.height)
    read, broken, image_cells = map(grid.painted, (glyphs.ink, glyphs.unmapped, images))
    pictures = joined_boxes(images, (grid.width, grid.height))
    drawn = None
    if segments >= _FEWEST_SEGMENTS:
        drawn = grid.drawn(page)
    elif len(pictures) and may_draw:
        drawn = grid.drawn(page, pictures)
    unread = image_cells & ~(read | broken) if drawn is None else written_cells(drawn, read | broken)
    places, regions = _in_pictures(grid, drawn, pictures, unread, read, grid.painted(layer))
    outlined = regions_of(unread & ~image_cells) if segments >= _FEWEST_SEGMENTS else []
    if sum(map(len, outlined)) < FEWEST_WRITTEN:
        outlined = []
    lines = [] if outlined else regions_of(grid.painted(frame.shown(rows)) & ~(read | image_cells))
    regions += [*outlined, *lines]
    missed = sum(map(len, regions)) + broken.sum()
    is_unread = bool(missed) and (not has_text or read.sum() < LEAST_READ * (read.sum() + missed))
    if not has_text:
        return Coverage(is_unread, (), drawn is not None)
    places = [] if outlined or broken.any() or is_unread else [*places, *map(grid.around, lines)]
    parts = _parts(grid, regions, image_cells, broken)
    return Coverage(is_unread, parts, drawn is not None, tuple(places), grid.digest(drawn, places))


def _in_pictures(
    grid: Grid, drawn: Gray | None, pictures: Floats, unread: Flags, read: Flags, layer: Flags
) -> tuple[list[Box], list[Region]]:
    """The places of pictures to recognize, and the regions in them that look written on.

    Of a picture with text on it, only the regions are places; with a text layer, only those that are not the ends of
    its lines, which may be shorter than those of the picture.
    """
    places, regions = list[Box](), list[Region]()
    for box in pictures:
        cells = grid.painted(box[None])
        own = regions_of(unread & cells, _FEWEST_IN_PICTURE)
        if drawn is not None:
            own = [region for region in own if len(region) >= _FEWEST_PLAIN or grid.is_script(drawn, region)]
        if (layer & cells).sum() >= TEXT_LAYER * sum(map(len, own)):
            own = [region for region in own if not grid.is_near(region, layer)]
        regions += own
        has_text = (read & cells).sum() > MOST_TYPED * cells.sum()
        places += [grid.around(region, box) for region in own] if has_text else [grid.rounded(box)]
    apart = joined_boxes(np.array(places, np.float32).reshape(-1, 4), (grid.width, grid.height))
    return list(map(grid.rounded, apart)), regions


def _parts(
    grid: Grid, regions: Sequence[Region], image_cells: Flags, broken: Flags
) -> tuple[tuple[UnreadReason, tuple[Box, ...]], ...]:
    """The boxes for each reason."""
    by_reason: dict[UnreadReason, list[Box]] = {}
    for region in regions:
        in_images = image_cells[region[:, 0], region[:, 1]].mean() >= 0.5
        reason = UnreadReason.IMAGE if in_images else UnreadReason.OUTLINES
        by_reason.setdefault(reason, []).append(grid.box(region))
    if broken.any():
        by_reason[UnreadReason.UNMAPPED] = [grid.box(region) for region in regions_of(broken, smallest=1)]
    return tuple((reason, tuple(boxes[:MOST_REGIONS])) for reason, boxes in by_reason.items())
