"""Finds the text of a PDF page that nobody sees: without ink, in the colour of its ground, clipped away, tiny.

    text objects that may not show → the page drawn with them and without → their characters that make no difference
    → those over writing in a picture stay, as an OCR layer does

What a rectangle painted later covers is `page_objects`' part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from service.documents.document import Box
from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.doubtful_text import BLUE, SQUASHED, Texts, difference
from service.documents.pdf.drawing import PageView
from service.documents.pdf.page_objects import Painted, address, text_objects

_Numbers = npt.NDArray[np.int64]

_SMALLEST = 1.5
"""Points of the longer side of a character's box, below which nobody can read it on a page in points."""
_SMALLEST_SHARE = 1 / 500
"""The same as a share of the page's longer side, where that is less: small pages are in another unit."""
_SEEN = 16
"""Least difference of two colours that is seen, of 255."""
_SEEN_OF_EACH = np.array([_SEEN, _SEEN, _SEEN / BLUE], np.uint8)
_AROUND = 4
"""Characters before and after one in its text object, with which it counts as seen or not."""
FEWEST_UNSEEN = 3
"""Unseen characters of a page that are said; and most characters of a text that is judged with its neighbours."""
_MOST_PIXELS, _MOST_SCALE = 1_500_000, 3.0
"""Most pixels of a drawing, and its most pixels for a point."""
_EDGES, _STEP = (20, 60), 2
"""Bounds of the least difference of grey, of 255, at a stroke's edge; and the pixels between which it is measured."""
_NOISE = 7
"""That difference in times the typical one, which is the paper's."""
_MISPLACED = 0.25
"""Distance of recognized characters from those of the picture, in their heights."""
_SAME_PLACE = 2.0
"""Points within which a character that is seen and one that is not are copies."""
_MOST_LINES = 16
"""Lines of unseen text whose boxes are said."""
_BEYOND = 1.0
"""Points of a character beyond its clip that are its border, or an accent."""
_DRAWABLE = ((0, 0x100), (0x2000, 0x2300))
"""Ranges of letters and signs that pdfium can draw in fonts that the file does not bring."""


class Characters(NamedTuple):
    """The characters of a text page: code points, boxes on the page as shown, and those that are white space."""

    text_page: Any
    codes: npt.NDArray[np.uint32]
    loose: Floats
    ink: Floats
    blank: Flags

    @property
    def inkless(self) -> Flags:
        """True for characters in a row of which the font has no box: they may have no strokes, or are a ligature."""
        same = (ink == loose for ink, loose in zip(self.ink.T, self.loose.T, strict=True))
        return self._in_a_row(np.logical_and.reduce(list(same)))

    @property
    def narrow(self) -> Flags:
        """True for characters in a row that are set flat or narrow, or are a ligature."""
        wide, high = self._sides()
        return self._in_a_row(np.minimum(wide, high) < SQUASHED * np.maximum(wide, high))

    def smaller_than(self, side: float) -> Flags:
        """True for characters of which neither side has so many points."""
        longer = np.maximum(*self._sides())
        return np.asarray((longer > 0) & (longer < side))

    def _sides(self) -> tuple[Floats, Floats]:
        left, top, right, bottom = self.loose.T
        return right - left, bottom - top

    def _in_a_row(self, flags: Flags) -> Flags:
        if not flags.any():
            return flags
        some = np.append(flags[~self.blank], (False, False))
        starts = some & np.roll(some, -1) & np.roll(some, -2)
        in_row = np.zeros(len(flags), np.bool_)
        in_row[~self.blank] = (starts | np.roll(starts, 1) | np.roll(starts, 2))[:-2]
        return in_row


def too_small(characters: Characters, page_side: float) -> Flags:
    """True for characters that nobody can read on a page whose longer side has so many points."""
    return characters.smaller_than(min(_SMALLEST, page_side * _SMALLEST_SHARE))


def without_ink(
    page: Any,
    objects: Sequence[Painted],
    texts: Texts,
    characters: Characters,
    clips: Floats,
    known: Flags,
    size: tuple[float, float],
) -> tuple[Flags, bool]:
    """True for characters that make no difference to the page, and stand over no writing in a picture; and whether the
    page was drawn.

    Args:
        objects: of the page; `texts`: among them, with their `clips` on the page as shown.
        known: True for characters of which this is known already.
        size: width and height of the page as shown, in points.
    """
    owners = _owners(objects, texts, characters)
    may_be_unseen = texts.may_be_unseen.copy()
    may_be_unseen[owners[characters.inkless & (owners >= 0)]] = True
    low, high = characters.ink[:, :2] - clips[owners, :2], clips[owners, 2:] - characters.ink[:, 2:]
    is_clipped = texts.may_be_clipped[owners] & ~(np.minimum(low, high) >= -_BEYOND).all(axis=1)
    asked = np.flatnonzero((owners >= 0) & (may_be_unseen[owners] | is_clipped) & ~characters.blank & ~known)
    unseen = known.copy()
    if not len(asked):
        return unseen, False
    ink, owner = characters.ink[asked], owners[asked]
    view = PageView.of(size, ink, _MOST_SCALE, _MOST_PIXELS)
    handles = [objects[at].handle for at in texts.places.tolist()]
    is_copy = np.bincount(owners[owners >= 0], minlength=len(handles)) == 0  # pdfium reads one of two in one place
    is_copy &= texts.modes != pdfium.FPDF_TEXTRENDERMODE_INVISIBLE
    seen = np.zeros(len(asked), np.bool_)
    if is_copy.any() or (texts.modes[owner] != pdfium.FPDF_TEXTRENDERMODE_INVISIBLE).any():
        without = is_copy.copy()
        without[owner] = True
        with _inactive(handles[at] for at in np.flatnonzero(without).tolist()):
            before = view.drawn(page)
        after = view.drawn(page)
        differs = np.maximum(before, after) - np.minimum(before, after) >= _SEEN_OF_EACH
        seen = _as_around(view.any_in(np.asarray(differs.any(axis=2)), ink), owner)
        undrawable = _undrawable(handles, texts, owner, characters.codes[asked], view.colours_in(before, ink))
        seen |= undrawable & ~_are_outside(ink, clips[owner])
    if not seen.all() and len(handles) < len(objects):
        with _inactive(handles):
            picture = view.drawn(page)
        seen |= _over_writing(view, picture[..., 1].astype(np.int16), ink, owner)
    unseen[asked] = ~seen | texts.squashed[owner]
    return _with_blanks(unseen, owners, characters.blank), True


def invisible(objects: Sequence[Painted], texts: Texts, characters: Characters) -> Flags:
    """True for characters without ink on a page that has nothing but texts, so that they are no scan's layer."""
    without = np.append(texts.modes == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, False)
    if len(texts.places) < len(objects) or not without.any():
        return np.zeros(len(characters.blank), np.bool_)
    return np.asarray(without[_owners(objects, texts, characters)])


def _owners(objects: Sequence[Painted], texts: Texts, characters: Characters) -> _Numbers:
    """The number of the text object of each character; -1: of none."""
    numbers = {address(objects[at].handle): number for number, at in enumerate(texts.places.tolist())}
    found = text_objects(characters.text_page, range(len(characters.blank)))
    return np.fromiter((numbers.get(each, -1) for each in found), np.int64, len(characters.blank))


@contextmanager
def _inactive(texts: Iterable[Any]) -> Iterator[None]:
    """Have a page drawn without some of its text objects."""
    handles = list(texts)
    for each in handles:
        pdfium.FPDFPageObj_SetIsActive(each, False)
    try:
        yield
    finally:
        for each in handles:
            pdfium.FPDFPageObj_SetIsActive(each, True)


def _as_around(flags: Flags, owner: _Numbers) -> Flags:
    """What most neighbours in one text object say: dots have little ink, and a letter may meet a dark spot."""
    starts = np.flatnonzero(np.diff(owner, prepend=-2))
    lengths = np.diff(starts, append=len(owner))
    start, end = starts.repeat(lengths), (starts + lengths).repeat(lengths)
    at = np.arange(len(owner))
    low, high = np.maximum(at - _AROUND, start), np.minimum(at + _AROUND + 1, end)
    sums = np.append(0, flags.cumsum())
    votes = 2 * (sums[high] - sums[low]) - (high - low)
    return np.asarray(np.where(votes == 0, flags, votes > 0))


def _undrawable(
    handles: Sequence[Any], texts: Texts, owner: _Numbers, codes: npt.NDArray[np.uint32], grounds: Floats
) -> Flags:
    """True for opaque texts, most of whose letters pdfium has no font for, if their colour is not their ground's."""
    drawable = [(codes >= first) & (codes < end) for first, end in _DRAWABLE]
    lacking = np.bincount(owner, ~np.logical_or(*drawable), len(handles))
    is_most = 2 * lacking > np.bincount(owner, minlength=len(handles))
    lacks_font = np.zeros(len(handles), np.bool_)
    for number in np.flatnonzero(is_most & texts.paint.is_sure).tolist():
        lacks_font[number] = not pdfium.FPDFFont_GetIsEmbedded(pdfium.FPDFTextObj_GetFont(handles[number]))
    return np.asarray(lacks_font[owner] & (difference(texts.paint.colours[owner], grounds) >= _SEEN))


def _are_outside(ink: Floats, clips: Floats) -> Flags:
    """True for characters that have nothing in the box beside them, which may be none (NaN)."""
    common = np.minimum(ink[:, 2:], clips[:, 2:]) - np.maximum(ink[:, :2], clips[:, :2])
    return np.asarray((common < 0).any(axis=1))


def _over_writing(view: PageView, gray: npt.NDArray[np.int16], ink: Floats, owner: _Numbers) -> Flags:
    """True for characters of lines of which half have strokes of a picture, that is edges in both directions."""
    around = _grown(ink, _MISPLACED)
    has_strokes = view.any_in(_edges(gray), around) & view.any_in(_edges(gray.T).T, around)
    is_apart = _are_apart(ink)
    length = np.unique(owner, return_inverse=True, return_counts=True)
    long = length[2][length[1]] > FEWEST_UNSEEN
    is_apart |= (owner[1:] != owner[:-1]) & long[1:] & long[:-1]
    group = np.append(0, is_apart.cumsum())
    return np.asarray((2 * np.bincount(group, has_strokes) >= np.bincount(group))[group])


def _edges(gray: npt.NDArray[np.int16]) -> Flags:
    """True for pixels with the edge of a stroke to their right."""
    steps = np.abs(gray[:, _STEP:] - gray[:, :-_STEP])
    least = np.clip(_NOISE * np.median(steps[::3, ::3]), *_EDGES) if steps.size else 0
    return np.pad(steps >= least, ((0, 0), (0, gray.shape[1] - steps.shape[1])))


def _are_apart(boxes: Floats) -> Flags:
    """bool [n - 1]: True between boxes that do not follow each other in a line."""
    near = _grown(boxes, 3 * _MISPLACED)
    return np.asarray((np.maximum(near[1:, :2], near[:-1, :2]) > np.minimum(near[1:, 2:], near[:-1, 2:])).any(axis=1))


def _grown(boxes: Floats, share: float) -> Floats:
    more = share * (boxes[:, 2:] - boxes[:, :2]).max(axis=1, keepdims=True)
    return np.concatenate((boxes[:, :2] - more, boxes[:, 2:] + more), axis=1)


def _with_blanks(unseen: Flags, owners: _Numbers, blank: Flags) -> Flags:
    """The same, with the white space behind, or before, such characters of its text object."""
    at = np.arange(len(unseen))
    before = np.maximum.accumulate(np.where(blank, 0, at))
    behind = np.minimum.accumulate(np.where(blank, len(at) - 1, at)[::-1])[::-1]
    for other in (before, behind):
        unseen = unseen | (blank & unseen[other] & (owners == owners[other]))
    return unseen


def without_copies(unseen: Flags, shown: Flags, codes: npt.NDArray[np.uint32], ink: Floats) -> Flags:
    """The unseen characters but for those that are seen in the same place, such as letters below their shadow."""
    places = np.floor((ink[:, :2] + ink[:, 2:]) / 2 / _SAME_PLACE * 2).astype(np.int64).clip(-(1 << 19), 1 << 19)
    left = unseen.copy()
    for shift in ((0, 0), (0, 1), (1, 0), (1, 1)):
        column, row = ((places + shift) // 2).T
        keys = (codes.astype(np.int64) << 42) + (column << 21) + row
        left &= ~np.isin(keys, keys[shown])
    return left


def boxes_of_lines(boxes: Floats) -> tuple[Box, ...]:
    """The boxes around characters that follow each other; the first ones."""
    lines = np.split(boxes, np.flatnonzero(_are_apart(boxes)) + 1)[:_MOST_LINES]
    around = ((*line[:, :2].min(axis=0).tolist(), *line[:, 2:].max(axis=0).tolist()) for line in lines)
    return tuple(
        (round(left, 1), round(top, 1), round(right, 1), round(bottom, 1)) for left, top, right, bottom in around
    )
