"""Boxes of words as a layout model reads them: thousandths of the page's sides, or shares of them (BROS).

A box is left, top, right, bottom on the page as shown. Boxes are cut at the page's edges and never reversed. A word
without ink gets the box of the word before it on its page; the first words get that of the next word with ink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_store.families.layout import LARGEST
from service.documents.document import Document, Page, PlacedWords

Places = npt.NDArray[np.float64]
"""Boxes `[words, 4]` in the unit of the page's width and height."""
BoxColumns = npt.NDArray[np.int32]
"""Boxes `[words, 4]` as a sequence's columns: integers, or the bits of float32 shares."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes as one model reads them.

    Attributes:
        as_shares: float32 shares of the page's sides, whose bits travel as int32; else integers from 0 to 1000.
    """

    as_shares: bool = False

    def special(self, thousandths: Sequence[int]) -> BoxColumns:
        """The box of a special token, int32 `[4]`."""
        box = np.array(thousandths, dtype=np.float64)
        return self._columns(box / LARGEST if self.as_shares else box)

    def scaled(self, places: Places, pages: npt.NDArray[np.intp], sides: Places) -> BoxColumns:
        """The boxes of words on their pages, whose widths and heights are `sides`, `[pages, 2]`."""
        size = np.tile(np.where(sides > 0, sides, np.inf), 2)[pages]
        found = places / size if self.as_shares else np.trunc(LARGEST * places / size)
        found = np.clip(found, 0, 1 if self.as_shares else LARGEST)
        found[:, 2:] = np.maximum(found[:, :2], found[:, 2:])
        return self._columns(found)

    def _columns(self, boxes: Places) -> BoxColumns:
        return boxes.astype(np.float32).view(np.int32) if self.as_shares else boxes.astype(np.int32)


def pages_of(words: PlacedWords, pages: Sequence[Page]) -> npt.NDArray[np.intp]:
    """The place of each word's page among the pages, intp `[words]`, ascending."""
    starts = [page.start for page in pages]
    return np.maximum(np.searchsorted(starts, words.ranges[:, 0], side="right") - 1, 0)


def inked(places: Places, pages: npt.NDArray[np.intp]) -> Places:
    """The boxes of words, with those of words without ink filled in; 0 on a page where nothing has any."""
    lacks = np.isnan(places).any(axis=1)
    if not lacks.any():
        return places
    rows = np.arange(len(places))
    before = np.maximum.accumulate(np.where(lacks, -1, rows))
    behind = np.minimum.accumulate(np.where(lacks, len(rows), rows)[::-1])[::-1]
    chosen = np.where((before >= 0) & (pages[before] == pages), before, np.minimum(behind, len(rows) - 1))
    return np.where((pages[chosen] == pages)[:, None], np.nan_to_num(places[chosen]), 0.0)


def of_lines(places: Places, document: Document, words: PlacedWords, pages: npt.NDArray[np.intp]) -> Places:
    """The box around each word's line, for each word; `places`: of the words, all with ink."""
    if not len(places):
        return places
    starts = words.ranges[:, 0]
    if document.layout is not None:
        line = np.searchsorted(document.layout.line_starts, starts, side="right")
    else:
        line = np.searchsorted([place for place, each in enumerate(document.text) if each == "\n"], starts)
    begins = np.flatnonzero(np.append(True, (np.diff(line) != 0) | (np.diff(pages) != 0)))
    least, most = (around.reduceat(places, begins, axis=0) for around in (np.minimum, np.maximum))
    boxes = np.hstack([least[:, :2], most[:, 2:]])
    return np.repeat(boxes, np.diff(np.append(begins, len(places))), axis=0)
