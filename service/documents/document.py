"""What every format becomes: text, the pages that cover it, and, where the format has a layout, character boxes.

Owns the answer to "on which page and in which boxes does [start:end] stand". Does not know how any format is read.
Offsets are Unicode code points into `text`; boxes are [left, top, right, bottom] in points (1/72 inch) from the
page's upper left corner as the page is shown (rotation applied).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Page:
    """One page's slice of the text: `number` counts from 1, `start` and `end` are code points."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where characters stand.

    Attributes:
        boxes: float32 of shape [characters, 4]; a character that has no ink (space, line break) has NaN.
        line_starts: int32 of shape [lines], ascending: the offset at which each line of text begins.
    """

    boxes: npt.NDArray[np.float32]
    line_starts: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one document, with what is known of where it stands.

    `pages` is None for formats that have no pages (text, HTML, DOCX); `layout` is None where there are no boxes.
    `unread_pages` are numbers of pages that hold images and no text, as scanned ones do: nothing was read from them.
    """

    text: str
    pages: tuple[Page, ...] | None = None
    layout: Layout | None = None
    unread_pages: tuple[int, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The number of the page on which the character at `offset` stands; None where there are no pages."""
        if not self.pages:
            return None
        index = bisect_right(self.pages, offset, key=lambda page: page.start) - 1
        return self.pages[max(index, 0)].number

    def boxes(self, start: int, end: int) -> list[Box]:
        """One box for each line that [start:end] touches, in reading order; empty where there is no layout."""
        if self.layout is None:
            return []
        first = int(np.searchsorted(self.layout.line_starts, start, side="right")) - 1
        last = int(np.searchsorted(self.layout.line_starts, end, side="left"))
        borders = [start, *self.layout.line_starts[first + 1 : last].tolist(), end]
        boxes = (_around(self.layout.boxes[a:b]) for a, b in pairwise(borders))
        return [box for box in boxes if box is not None]


def _around(boxes: npt.NDArray[np.float32]) -> Box | None:
    inked = boxes[~np.isnan(boxes[:, 0])]
    if not len(inked):
        return None
    left, top = inked[:, :2].min(axis=0).tolist()
    right, bottom = inked[:, 2:].max(axis=0).tolist()
    return (round(left, 1), round(top, 1), round(right, 1), round(bottom, 1))
