"""The characters of a PDF page as arrays: code points, boxes, and the positions of white space in the content stream.

Calls pdfium's text page and rotates its boxes to the page as shown.

Two kinds of box: the *loose* one spans the font's ascent to descent and the advance width, alike for all characters of
a line, and is used for the layout; the *ink* box spans what is drawn and is what results show.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Flags, Floats, read_turns, turned_back
from service.documents.pdf.doubtful_text import Texts
from service.documents.pdf.page_objects import Painted, address, boxes_of, hidden_characters
from service.documents.pdf.strikethrough import struck_characters
from service.documents.pdf.unseen_text import Characters, invisible, too_small, without_copies, without_ink

Codes = npt.NDArray[np.uint32]
Indices = npt.NDArray[np.int32]


def code_set(codes: Iterable[int]) -> Flags:
    """A table of code points for `holds`; none is above U+FFFF."""
    table = np.zeros(0x10001, np.bool_)
    table[list(codes)] = True
    return table


def holds(table: Flags, codes: Codes) -> Flags:
    """True for codes in the set; many times faster than `np.isin`."""
    return table[np.minimum(codes, 0x10000)]


HYPHENS = (0x02, 0xAD, 0xFFFE)  # pdfium's two marks for a hyphen at a line's end, and the soft one that fonts misuse
_HYPHENS = code_set(HYPHENS)
_BLANKS = code_set((*range(0x09, 0x0E), 0x20, 0x85, 0xA0, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x3000))
REPLACEMENT = 0xFFFD
"""Placeholder of a character without a Unicode value."""
_SHORTEST_UNMAPPED = 3  # characters in a row without a Unicode value: they are writing; fewer are bullets and icons
_ASKED = 250  # characters of a page, about, that are asked for their mapping before all of them are
_UNWANTED = code_set((*range(0x20), *range(0x7F, 0xA0), 0x200B, 0xFEFF, 0xFFFF))

# pypdfium2's own bindings check pointer types on every call; these take addresses and halve the time.
_Address = ctypes.c_void_p
_LooseBox = ctypes.CFUNCTYPE(ctypes.c_int, _Address, ctypes.c_int, _Address)
_CodePoint = ctypes.CFUNCTYPE(ctypes.c_uint, _Address, ctypes.c_int)
_MapError = ctypes.CFUNCTYPE(ctypes.c_int, _Address, ctypes.c_int)
_InkBox = ctypes.CFUNCTYPE(ctypes.c_int, _Address, ctypes.c_int, _Address, _Address, _Address, _Address)


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The inked characters of one page, by their angle, those of one angle in content order; n of them.

    Attributes:
        codes: uint32 [n], code points.
        loose: float32 [n, 4], boxes for the layout; a slanted character's is that of the level one at its place.
        ink: float32 [n, 4], boxes to show; both in points from the upper left corner of the page as shown.
        spaced: bool [n], True where white space precedes the character.
        width, height: of the page as shown, in points.
        indices: int32 [n], of the characters on pdfium's text page.
        angles: float32 [n], degrees by which each is turned clockwise as shown, 0 to 360; without any, all are level.
        typed: bool [n], True where the file itself holds that white space; without any, pdfium found it by distance.
        confidence: float32 [n], the mean probability of its word, if it was recognized in a picture; without any, the
            file says what it is.
        unmapped: float32 [m, 4], loose boxes of characters that are left out as their fonts do not say what they mean.
        unseen: float32 [m, 4], ink boxes of characters that are left out as nobody sees them.
        struck: float32 [m, 4], ink boxes of characters that are left out as they are struck out.
        was_drawn: whether the page was drawn to tell them.
    """

    codes: Codes
    loose: Floats
    ink: Floats
    spaced: Flags
    width: float
    height: float
    indices: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    angles: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    typed: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    confidence: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    unmapped: Floats = field(default_factory=lambda: np.zeros((0, 4), np.float32))
    unseen: Floats = field(default_factory=lambda: np.zeros((0, 4), np.float32))
    struck: Floats = field(default_factory=lambda: np.zeros((0, 4), np.float32))
    was_drawn: bool = False

    def only(self, kept: Flags) -> Glyphs:
        """Keep the chosen glyphs (bool [n])."""
        names = ("codes", "loose", "ink", "spaced", "indices", "angles", "typed", "confidence")
        return replace(self, **{name: part[kept] for name in names if len(part := getattr(self, name))})


def read_glyphs(
    page: Any, text_page: Any, count: int, objects: Sequence[Painted] = (), *, may_draw: bool = True
) -> Glyphs:
    """The glyphs of a loaded page (pdfium's raw handles) with these objects, whose text page has `count` characters.

    Args:
        may_draw: the page, to tell which characters are seen.
    """
    codes, unmapped = readable_codes(text_page, count)
    frame = PageFrame.of(page)
    loose, ink = shown_boxes(text_page, count, frame)
    blank = holds(_BLANKS, codes)
    is_typed = blank & (loose[:, 2] > loose[:, 0])
    codes, is_whole = _whole(codes)
    keep = is_whole & ~blank & ~holds(_UNWANTED, codes)
    unseen, was_drawn, struck = unseen_characters(page, text_page, codes, loose, ink, objects, may_draw=may_draw)
    unseen &= keep
    struck &= keep & ~unseen
    keep &= ~(unseen | struck)
    gone = np.zeros(count, np.bool_)
    gone[keep] = _long_runs(unmapped[keep])
    keep &= ~gone
    spaced, typed = (np.diff(np.cumsum(flags)[keep], prepend=0) > 0 for flags in (blank, is_typed))
    indices = np.flatnonzero(keep).astype(np.int32)
    turns = read_turns(address(text_page), indices, loose[keep], spaced, frame.quarter_turns)
    order = np.argsort(turns.angles, kind="stable") if turns.angles.any() else slice(None)
    return Glyphs(
        codes=codes[keep][order],
        loose=turned_back(loose[keep], turns)[order],
        ink=ink[keep][order],
        spaced=spaced[order],
        width=frame.width,
        height=frame.height,
        indices=indices[order],
        angles=turns.angles[order],
        typed=typed[order],
        unmapped=loose[gone],
        unseen=ink[without_copies(unseen, keep, codes, ink)] if unseen.any() else ink[:0],
        struck=ink[struck],
        was_drawn=was_drawn,
    )


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The visible part of the page in its own coordinates (y upwards), and its clockwise quarter turns."""

    left: float
    bottom: float
    right: float
    top: float
    quarter_turns: int

    @classmethod
    def of(cls, page: Any) -> PageFrame:
        box = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, box)
        return cls(box.left, box.bottom, box.right, box.top, int(pdfium.FPDFPage_GetRotation(page)) % 4)

    @property
    def width(self) -> float:
        return self.top - self.bottom if self.quarter_turns % 2 else self.right - self.left

    @property
    def height(self) -> float:
        return self.right - self.left if self.quarter_turns % 2 else self.top - self.bottom

    def shown(self, boxes: Floats) -> Floats:
        """[left, bottom, right, top] upwards → [left, top, right, bottom] downwards, turned as the page is shown."""
        x0, y0, x1, y1 = boxes.T
        left, top, right, bottom = x0 - self.left, self.top - y1, x1 - self.left, self.top - y0
        across, down = self.right - self.left, self.top - self.bottom
        turned = (
            (left, top, right, bottom),
            (down - bottom, left, down - top, right),
            (across - right, down - bottom, across - left, down - top),
            (top, across - right, bottom, across - left),
        )[self.quarter_turns]
        return np.stack(turned, axis=1).astype(np.float32)

    def placed(self, shown: Floats) -> Floats:
        """The inverse of `shown`."""
        across, down = self.right - self.left, self.top - self.bottom
        x0, y0, x1, y1 = shown.T
        left, top, right, bottom = (
            (x0, y0, x1, y1),
            (y0, down - x1, y1, down - x0),
            (across - x1, down - y1, across - x0, down - y0),
            (across - y1, x0, across - y0, x1),
        )[self.quarter_turns]
        placed = (self.left + left, self.top - bottom, self.left + right, self.top - top)
        return np.stack(placed, axis=1).astype(np.float32)

    def contains(self, shown: Floats) -> Flags:
        """True for boxes whose centre is on the page; others do not show."""
        x, y = (shown[:, 0] + shown[:, 2]) / 2, (shown[:, 1] + shown[:, 3]) / 2
        return np.asarray((x >= 0) & (x <= self.width) & (y >= 0) & (y <= self.height))


class Unseen(NamedTuple):
    """The characters that do not show: off the page, painted over, without ink; whether the page was drawn to tell;
    and those that are struck out."""

    characters: Flags
    was_drawn: bool
    struck: Flags


def unseen_characters(
    page: Any, text_page: Any, codes: Codes, loose: Floats, ink: Floats, objects: Sequence[Painted], *, may_draw: bool
) -> Unseen:
    """The unseen ones of a text page's characters with these boxes.

    Args:
        may_draw: False: texts count as seen where the page's picture alone would tell.
    """
    frame, boxes = PageFrame.of(page), boxes_of(objects)
    size = frame.width, frame.height
    unseen = ~frame.contains(loose)
    unseen |= hidden_characters(objects, boxes, text_page, ink, frame.shown, frame.width * frame.height)
    characters = Characters(text_page, codes, loose, ink, holds(_BLANKS, codes) | holds(_UNWANTED, codes))
    unseen |= too_small(characters, max(size))
    struck = struck_characters(objects, boxes, frame.shown, loose, ink, characters.blank)
    texts = Texts.of(objects, boxes, may_be_squashed=bool(characters.narrow.any()))
    may_be_unseen = (texts.may_be_unseen | texts.may_be_clipped).any() or characters.inkless.any()
    if not (may_draw and may_be_unseen and len(texts.places)):
        unseen |= invisible(objects, texts, characters)
        return Unseen(unseen, was_drawn=False, struck=struck)
    unseen, was_drawn = without_ink(page, objects, texts, characters, frame.shown(texts.clips), unseen, size)
    return Unseen(unseen, was_drawn=was_drawn, struck=struck)


def readable_codes(text_page: Any, count: int) -> tuple[Codes, Flags]:
    """The UTF-16 units of a text page's characters as they are read, and True for those that no font explains."""
    codes = code_points(text_page, count)
    unmapped = _unmapped(text_page, codes)
    codes[holds(_HYPHENS, codes)] = ord("-")
    codes[unmapped & ~_is_private(codes)] = REPLACEMENT
    return codes, unmapped


def code_points(text_page: Any, count: int) -> Codes:
    """The UTF-16 units of a text page's characters."""
    call, handle = _CodePoint(address(pdfium.FPDFText_GetUnicode)), address(text_page)
    return np.fromiter(map(call, repeat(handle), range(count)), np.uint32, count)


def _unmapped(text_page: Any, codes: Codes) -> Flags:
    """True for characters whose font does not say what they mean; of equal private ones in a row only for the first."""
    private = _is_private(codes)
    private[1:] &= codes[1:] != codes[:-1]
    call, handle = _MapError(address(pdfium.FPDFText_HasUnicodeMapError)), address(text_page)
    for step in (1 + len(codes) // _ASKED, 1):
        asked = range(0, len(codes), step)
        errors = np.fromiter(map(call, repeat(handle), asked), np.int8, len(asked)) == 1
        if not errors.any():
            return private
    return np.asarray(private | errors)


def _is_private(codes: Codes) -> Flags:
    return np.asarray((codes >= 0xE000) & (codes <= 0xF8FF))


def _long_runs(flags: Flags) -> Flags:
    """True in the runs of `flags` that are long enough to be writing."""
    borders = np.flatnonzero(np.diff(flags, prepend=False, append=False)).reshape(-1, 2)
    runs = np.zeros(len(flags), np.bool_)
    for start, end in borders[borders[:, 1] - borders[:, 0] >= _SHORTEST_UNMAPPED].tolist():
        runs[start:end] = True
    return runs


def loose_boxes(text_page: Any, count: int) -> Floats:
    """Loose boxes [left, bottom, right, top]; pdfium writes each as FS_RECTF (left, top, right, bottom)."""
    rows = np.zeros((count, 4), np.float32)
    call = _LooseBox(address(pdfium.FPDFText_GetLooseCharBox))
    handle, base = address(text_page), rows.ctypes.data
    deque(map(call, repeat(handle), range(count), range(base, base + 16 * count, 16)), maxlen=0)
    return rows[:, [0, 3, 2, 1]]


def _ink_boxes(text_page: Any, count: int) -> Floats:
    """Ink boxes [left, bottom, right, top]; pdfium writes four doubles (left, right, bottom, top) to four addresses."""
    rows = np.zeros((count, 4), np.float64)
    call = _InkBox(address(pdfium.FPDFText_GetCharBox))
    handle, base = address(text_page), rows.ctypes.data
    sides = (range(base + side, base + side + 32 * count, 32) for side in (0, 8, 16, 24))
    deque(map(call, repeat(handle), range(count), *sides), maxlen=0)
    return rows[:, [0, 2, 1, 3]].clip(-1e6, 1e6).astype(np.float32)


def shown_boxes(text_page: Any, count: int, frame: PageFrame) -> tuple[Floats, Floats]:
    """The loose and the ink boxes of a text page's characters on the page as shown."""
    loose, ink = frame.shown(loose_boxes(text_page, count)), frame.shown(_ink_boxes(text_page, count))
    return _or_else(loose, ink), _or_else(ink, loose)


def _or_else(boxes: Floats, others: Floats) -> Floats:
    """`boxes`, with those that have no area (a Type 3 font, a mark without ink) replaced by `others`."""
    has_area = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1]) & np.isfinite(boxes).all(axis=1)
    return np.where(has_area[:, None], boxes, others)


def _whole(codes: Codes) -> tuple[Codes, Flags]:
    """Codes with surrogate pairs joined (some fonts map a character to two), and False for the halves to drop."""
    high, low = (codes >> 10) == 0xD800 >> 10, (codes >> 10) == 0xDC00 >> 10
    pair = np.zeros(len(codes), np.bool_)
    pair[:-1] = high[:-1] & low[1:]
    joined = 0x10000 + ((codes & 0x3FF) << 10) + (np.roll(codes, -1) & 0x3FF)
    is_whole = (pair | ~(high | low)) & (codes <= 0x10FFFF)
    return np.where(pair, joined, codes).astype(np.uint32), is_whole
