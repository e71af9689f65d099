"""One operator that shows text: its glyphs placed on the page, and those taken out that lie where text is to go.

What is left does not move: a glyph that goes leaves a number in its place, by which the pen moves on as far.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from service.documents.pdf.glyphs import (
    HYPHENS,
    PageFrame,
    code_points,
    loose_boxes,
    readable_codes,
    shown_boxes,
    unseen_characters,
)
from service.documents.pdf.page_objects import address, painted_objects
from service.documents.pdf.reader import loaded_page, opened_text
from service.documents.redaction.geometry import BoxGrid, GraphicsState, Point, Rectangle, around
from service.documents.redaction.values import CannotRewrite

Item = bytes | float
"""Operand of TJ: a string, or a number by which the pen moves back, in thousandths of the font's size."""

_MIDDLE, _DEPTH, _HEIGHT = 0.25, -0.25, 0.95
"""Heights of a glyph's middle, bottom and top above its base line, in font sizes."""


SAME_PLACE = 0.3
"""Points: origins that are nearer than this are one glyph's, if its text is not tiny."""


class Places:
    """Glyphs by code and origin, each to be taken once."""

    def __init__(self, glyphs: Iterable[tuple[int, Point]]) -> None:
        self.left = 0
        self._cells: dict[tuple[int, int, int], list[Point]] = {}
        for code, (x, y) in glyphs:
            self._cells.setdefault((code, round(x), round(y)), []).append((x, y))
            self.left += 1

    def take(self, code: int, point: Point) -> bool:
        """Take a glyph with this code near this point; whether there was one."""
        if not self.left:
            return False
        x, y = round(point[0]), round(point[1])
        for cell in ((code, x + i, y + j) for i in (0, -1, 1) for j in (0, -1, 1)):
            for other in self._cells.get(cell, ()):
                if abs(other[0] - point[0]) <= SAME_PLACE and abs(other[1] - point[1]) <= SAME_PLACE:
                    self._cells[cell].remove(other)
                    self.left -= 1
                    return True
        return False


@dataclass(slots=True)
class RedactedArea:
    """The area from which glyphs are removed: their middle is in one of the `boxes`, or their origin in `origins`.

    Attributes:
        bars: what has no ink goes under these too, since the places of spaces tell how wide words were.
        inked: the origins of all glyphs with ink.
        unseen: the origins of glyphs that do not show; of those at one place the first go, as others are painted over.
        removed: the origins of those that went for their place.
        painted: the boxes in which images show what is to go; `paintings`: the images over each that were painted.
        reworded: the boxes of the glyphs of each passage for which the file has other words.
        passage: the last of these while it goes on.
    """

    boxes: BoxGrid
    origins: BoxGrid
    bars: BoxGrid = field(default_factory=lambda: BoxGrid(()))
    inked: BoxGrid = field(default_factory=lambda: BoxGrid(()))
    unseen: Places = field(default_factory=lambda: Places(()))
    removed: list[Point] = field(default_factory=list)
    painted: list[Rectangle] = field(default_factory=list)
    paintings: dict[Rectangle, int] = field(default_factory=dict)
    reworded: list[list[Rectangle]] = field(default_factory=list)
    passage: list[Rectangle] | None = None

    @property
    def gone(self) -> int:
        """A number that grows with each glyph that goes."""
        return len(self.removed) - self.unseen.left

    def touched(self, image: Rectangle) -> list[Rectangle]:
        """The boxes that are to be painted in an image that lies in this box; each counts as painted."""
        left, bottom, right, top = image
        touched = [b for b in self.painted if b[0] < right and left < b[2] and b[1] < top and bottom < b[3]]
        for box in touched:
            self.paintings[box] = self.paintings.get(box, 0) + 1
        return touched

    def takes(self, origin: Point, middle: Point) -> bool:
        """True if this glyph goes."""
        is_blank = self.bars.holds(middle) and not self.inked.holds(origin)
        if not (is_blank or self.boxes.holds(middle) or self.origins.holds(origin)):
            return self.unseen.take(0, origin)
        self.removed.append(origin)
        self.unseen.take(0, origin)
        return True


def without_redacted(items: list[Item], state: GraphicsState, area: RedactedArea) -> list[Item] | None:
    """Remove glyphs from the items; None if all stay. The pen of `state` moves on.

    Raises:
        CannotRewrite: no font is set.
    """
    if state.font is None:
        raise CannotRewrite("text is shown without a font")
    left: list[Item] = []
    before = area.gone
    for item in items:
        if not isinstance(item, bytes):
            _move(state, item)
            left.append(item)
        else:
            left += _shown(item, state, area)
    return _merged(left) if area.gone > before else None


def _shown(data: bytes, state: GraphicsState, area: RedactedArea) -> list[Item]:
    font, size, scaling = state.font, state.size, state.scaling
    assert font is not None, "checked by the caller"
    a, b, c, d, e, f = state.glyphs()
    vertical, pen, left = font.is_vertical, 0.0, list[Item]()
    for code in font.divide(data):
        spacing = state.character_spacing + (state.word_spacing if code.is_space else 0.0)
        step = code.advance + (spacing / size if size else 0.0)
        x, y = code.shift
        if vertical:
            y += pen
            middle_x, middle_y = x + 0.5, y + _MIDDLE
        else:
            x += pen
            middle_x, middle_y = x + code.advance / 2, y + _MIDDLE
        origin = (a * x + c * y + e, b * x + d * y + f)
        middle = (a * middle_x + c * middle_y + e, b * middle_x + d * middle_y + f)
        left.append(-1000 * step if area.takes(origin, middle) else code.data)
        if area.passage is not None:
            area.passage.append(around((a, b, c, d, *origin), (0.0, _DEPTH, max(abs(code.advance), 0.1), _HEIGHT)))
        pen += step
    if vertical:
        state.advance(0.0, pen * size)
    else:
        state.advance(pen * size * scaling, 0.0)
    return left


def _move(state: GraphicsState, number: float) -> None:
    distance = -number / 1000 * state.size
    if state.font is not None and state.font.is_vertical:
        state.advance(0.0, distance)
    else:
        state.advance(distance * state.scaling, 0.0)


def _merged(items: list[Item]) -> list[Item]:
    """Neighbouring strings as one, neighbouring numbers as their sum."""
    merged: list[Item] = []
    for item in items:
        match merged[-1:], item:
            case [bytes(last)], bytes():
                merged[-1] = last + item
            case [float(last)], float():
                merged[-1] = last + item
            case _:
                merged.append(item)
    return merged


_Flag = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_Origin = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_UNKNOWN = "\ufffd"
_BLANK = frozenset(("\t", "\n", "\r", " ", "\u00a0"))


@dataclass(frozen=True, slots=True)
class PageText:
    """The characters of one page's text page, in content order: code points, origins and loose boxes, n of each.

    Origins and boxes [left, bottom, right, top] are in the page's own space; `generated` are of no glyph.
    """

    codes: npt.NDArray[np.uint32]
    origins: npt.NDArray[np.float64]
    loose: npt.NDArray[np.float32]
    generated: npt.NDArray[np.bool_]
    frame: PageFrame
    _inked: list[frozenset[int]] = field(default_factory=list, repr=False)

    def box(self, index: int) -> Rectangle:
        """The loose box of a character."""
        left, bottom, right, top = map(float, self.loose[index])
        return left, bottom, right, top

    def origin(self, index: int) -> Point:
        """The origin of a character."""
        return float(self.origins[index, 0]), float(self.origins[index, 1])

    def inked_ones(self) -> frozenset[int]:
        """The same as a set, made once."""
        if not self._inked:
            self._inked.append(frozenset(self.inked()))
        return self._inked[0]

    def inked(self) -> list[int]:
        """The indices of the characters that a font drew, white space left out."""
        return [
            i
            for i, code in enumerate(self.codes.tolist())
            if not self.generated[i] and code and chr(min(code, 0x10FFFF)) not in _BLANK
        ]


def read_page_text(document: pypdfium2.PdfDocument, number: int) -> PageText:
    """The characters of a page; its annotations must have been flattened.

    Raises:
        UnreadableDocument: it cannot be read.
    """
    with loaded_page(document, number) as page, opened_text(page, number) as text_page:
        count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
        codes = code_points(text_page, count)
        codes[np.isin(codes, HYPHENS)] = ord("-")  # Which of them it is depends on what comes after it.
        return PageText(
            codes,
            _origins(text_page, count),
            loose_boxes(text_page, count),
            _generated(text_page, count),
            PageFrame.of(page),
        )


def characters_unseen(document: pypdfium2.PdfDocument, number: int, *, may_draw: bool) -> tuple[list[int], bool]:
    """The indices of a page's characters that nobody sees or are struck out, and whether the page was drawn to tell.

    Raises:
        UnreadableDocument: it cannot be read.
    """
    with loaded_page(document, number) as page, opened_text(page, number) as text_page:
        count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
        codes, _ = readable_codes(text_page, count)
        boxes = shown_boxes(text_page, count, PageFrame.of(page))
        objects, _ = painted_objects(page)
        unseen = unseen_characters(page, text_page, codes, *boxes, objects, may_draw=may_draw)
        return np.flatnonzero(unseen.characters | unseen.struck).tolist(), unseen.was_drawn


def read_page_string(document: pypdfium2.PdfDocument, number: int) -> str:
    """The text of a page in the order of its content, as pdfium reads it: one character for each of its indices.

    Raises:
        UnreadableDocument: it cannot be read.
    """
    with loaded_page(document, number) as page, opened_text(page, number) as text_page:
        count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
        codes = code_points(text_page, count).tolist()
    return "".join(chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else _UNKNOWN for code in codes)


def _generated(text_page: Any, count: int) -> npt.NDArray[np.bool_]:
    call, handle = _Flag(address(pdfium.FPDFText_IsGenerated)), address(text_page)
    return np.fromiter((call(handle, i) == 1 for i in range(count)), np.bool_, count)


def _origins(text_page: Any, count: int) -> npt.NDArray[np.float64]:
    origins = np.zeros((count, 2), np.float64)
    call, handle, base = _Origin(address(pdfium.FPDFText_GetCharOrigin)), address(text_page), origins.ctypes.data
    for i in range(count):
        call(handle, i, base + 16 * i, base + 16 * i + 8)
    return origins
