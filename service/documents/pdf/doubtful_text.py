"""Chooses the text objects of a PDF page that may put no ink on it, by what their attributes say.

    invisible, transparent, patterned, clipped         → may not show
    in nearly the colour of the paper or of a ground   → may not show, unless a known ground of another colour is nearer
    below something that is painted later              → may not show

It is right to choose too many: whether one shows is decided by drawing the page (`unseen_text`). Most pages have none.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.page_objects import (
    MOST_CLIPS,
    PATTERN,
    SMALLEST_SIDE,
    Box,
    Painted,
    address,
    are_inside,
    clip_boxes,
    common,
    cover,
    is_marker,
    moved,
    own_matrix,
    under,
)

Places = npt.NDArray[np.intp]

BLUE = 0.4
"""Weight of blue in the difference of two colours; the eye sees little of it: pale yellow on white is not seen."""
_SURELY_SEEN = 40
"""Difference of two colours, of 255, from which a text shows on its ground."""
_OVERLAP = 0.05
"""Least share of a text's sides in the box of another object that may be its ground, or cover it."""
_OVERHANG = 0.5
"""Most part of a text beyond its clip, in its heights: its box is larger than its ink."""
SQUASHED = 0.08
"""Least ratio of the height and the width of a text to what its font has, one by the other."""
_MOST_PAIRS, _MOST_SHAPES, _MOST_CROSSINGS = 1_000_000, 500, 100_000
"""Pairs of a text and what it overlaps, paths looked at by their shape, and pairs of a text and a path's edge: bounds
of the work, beyond which texts count as perhaps unseen, and the page is drawn."""
_STROKES = (pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP)
_BOTH = (pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP)
_OPAQUE = 255
_PAPER = np.full(3, 255, np.float32)
_ALONG = np.array((0.02, 0.25, 0.5, 0.75, 0.98))
"""Places on the middle line of a text, in its lengths, at which a path may cover it."""

_Number = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_Pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_NameLength = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_FirstPoint = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
_Matrix = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Colour = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p for _ in range(5)))


class Paint(NamedTuple):
    """The colours of objects, float32 [n, 3]; `is_sure`: what each paints has this colour, and is opaque."""

    colours: Floats
    is_sure: Flags


class Texts(NamedTuple):
    """The text objects of a page: their places among its objects, n of each.

    Attributes:
        modes: int32 [n], render modes (ISO 32000-1, 9.3.6).
        may_be_unseen: bool [n]; those that are `squashed` are unseen.
        clips: float32 [n, 4], the boxes on the page that they are clipped to; NaN: to something else.
        may_be_clipped: bool [n]; what of them lies within their clips is seen.
    """

    places: Places
    modes: npt.NDArray[np.int32]
    paint: Paint
    may_be_unseen: Flags
    squashed: Flags
    clips: Floats
    may_be_clipped: Flags

    @classmethod
    def of(cls, objects: Sequence[Painted], boxes: Floats, *, may_be_squashed: bool) -> Texts:
        """Those of a page's objects, with their boxes on it."""
        places = np.array([at for at, each in enumerate(objects) if each.kind == pdfium.FPDF_PAGEOBJ_TEXT], np.intp)
        texts = [objects[at] for at in places.tolist()]
        handles = [each.handle for each in texts]
        modes = _numbers(pdfium.FPDFTextObj_GetTextRenderMode, handles)
        paint, squashed = _text_paint(texts, handles, modes), np.zeros(len(texts), np.bool_)
        if may_be_squashed:
            squashed = _are_squashed(handles)
        clips, is_clipped = _clips(texts, boxes[places])
        unseen = ~paint.is_sure | squashed
        unseen |= np.cumsum(modes >= pdfium.FPDF_TEXTRENDERMODE_FILL_CLIP) > 0  # They clip what comes after them.
        if len(texts):
            unseen |= _are_lost(objects, boxes, places, paint.colours)
        return cls(places, modes, paint, unseen, squashed, clips, is_clipped)


def difference(colours: Floats, others: Floats) -> Floats:
    """float32 [n]: between colours [n, 3], as the eye sees it."""
    return np.asarray((np.abs(colours - others) * (1, 1, BLUE)).max(axis=-1), np.float32)


def _numbers(function: Any, handles: Sequence[Any]) -> npt.NDArray[np.int32]:
    return np.fromiter(map(_Number(address(function)), handles), np.int32, len(handles))


def _colours(function: Any, handles: Sequence[Any]) -> tuple[npt.NDArray[np.uint32], Flags]:
    """uint32 [n, 4]: red, green, blue and opacity; and False for objects without any."""
    colours = np.zeros((len(handles), 4), np.uint32)
    base, end = colours.ctypes.data, colours.ctypes.data + colours.nbytes
    parts = (range(base + part, end + part, 16) for part in (0, 4, 8, 12))
    found = map(_Colour(address(function)), handles, *parts)
    return colours, np.fromiter(found, np.bool_, len(handles))


def _paint(objects: Sequence[Painted], handles: Sequence[Any]) -> Paint:
    colours, is_known = _colours(pdfium.FPDFPageObj_GetFillColor, handles)
    is_sure = is_known & (colours[:, :3] != PATTERN).any(axis=1)
    is_sure &= _numbers(pdfium.FPDFPageObj_HasTransparency, handles) == 0
    is_sure &= np.fromiter((each.is_opaque for each in objects), np.bool_, len(objects))
    return Paint(colours[:, :3].astype(np.float32), is_sure)


def _text_paint(texts: Sequence[Painted], handles: Sequence[Any], modes: npt.NDArray[np.int32]) -> Paint:
    colours, is_sure = _paint(texts, handles)
    is_sure &= modes < pdfium.FPDF_TEXTRENDERMODE_INVISIBLE
    is_sure &= ~_have_procedures(handles)
    if modes.any():
        strokes = _colours(pdfium.FPDFPageObj_GetStrokeColor, handles)[0].astype(np.float32)
        is_sure &= ~np.isin(modes, _STROKES) | (strokes[:, 3] == _OPAQUE)
        is_sure &= ~np.isin(modes, _BOTH) | (strokes[:, :3] == colours).all(axis=1)
        colours = np.where(np.isin(modes, _STROKES)[:, None], strokes[:, :3], colours)
    return Paint(colours, is_sure)


def _have_procedures(texts: Sequence[Any]) -> Flags:
    """True for texts in fonts without a name, which are those of Type 3: each glyph has colours of its own, or none."""
    fonts = list(map(_Pointer(address(pdfium.FPDFTextObj_GetFont)), texts))
    name_length = _NameLength(address(pdfium.FPDFFont_GetBaseFontName))
    nameless = {font for font in set(fonts) if font and name_length(font, None, 0) <= 1}
    return np.fromiter((font in nameless for font in fonts), np.bool_, len(fonts))


def _are_squashed(handles: Sequence[Any]) -> Flags:
    """True for texts set so flat or so narrow that nobody can read them."""
    matrices = np.zeros((len(handles), 6), np.float32)
    base = matrices.ctypes.data
    deque(
        map(_Matrix(address(pdfium.FPDFPageObj_GetMatrix)), handles, range(base, base + matrices.nbytes, 24)), maxlen=0
    )
    a, b, c, d = matrices[:, :4].T
    longest = np.maximum(np.hypot(a, b), np.hypot(c, d))
    return np.asarray(np.abs(a * d - b * c) < SQUASHED * longest**2)


def _clips(texts: Sequence[Painted], boxes: Floats) -> tuple[Floats, Flags]:
    """The clips of texts, and True for those of which a part may lie outside."""
    own = list(map(_Pointer(address(pdfium.FPDFPageObj_GetClipPath)), (text.handle for text in texts)))
    counts = list(map(_Number(address(pdfium.FPDFClipPath_CountPaths)), own))
    clips = np.full((len(texts), 4), (-np.inf, -np.inf, np.inf, np.inf), np.float32)
    if max(counts, default=0) <= 0 and not any(text.clips for text in texts):
        return clips, np.zeros(len(texts), np.bool_)
    known: dict[tuple[int, ...], Box | None] = {}
    first_point = _FirstPoint(address(pdfium.FPDFClipPath_GetPathSegment))
    for number, (text, clip, count) in enumerate(zip(texts, own, counts, strict=True)):
        if count > MOST_CLIPS:
            clips[number] = np.nan
        elif count > 0 or text.clips:
            # Texts of one clip share its points.
            key = (id(text.matrices), *(first_point(clip, path, 0) or 0 for path in range(count)))
            if key not in known:
                known[key] = common(clip_boxes(text))
            clips[number] = known[key] or np.nan
    beyond = np.maximum(clips[:, :2] - boxes[:, :2], boxes[:, 2:] - clips[:, 2:]).max(axis=1)
    return clips, np.asarray(~(beyond <= _OVERHANG * (boxes[:, 2:] - boxes[:, :2]).min(axis=1)))


def _are_lost(objects: Sequence[Painted], boxes: Floats, texts: Places, colours: Floats) -> Flags:
    """True for texts that may have the colour of the ground below them, or lie below something painted later."""
    is_on_paper = difference(colours, _PAPER) < _SURELY_SEEN
    others = np.array([at for at, each in enumerate(objects) if each.kind != pdfium.FPDF_PAGEOBJ_TEXT], np.intp)
    others = others[(boxes[others, 2:] - boxes[others, :2]).min(axis=1) >= SMALLEST_SIDE]
    pairs: list[tuple[Places, Places]] = []
    parts = under(boxes[others], boxes[texts], np.inf, _OVERLAP)
    if parts is None:
        return np.ones(len(texts), np.bool_)
    for part in parts:
        pairs.append(part)
        if sum(len(text) for _, text in pairs) > _MOST_PAIRS:
            return np.ones(len(texts), np.bool_)
    if not pairs:
        return is_on_paper
    other, text = (np.concatenate(part) for part in zip(*pairs, strict=True))
    chosen, which = np.unique(others[other], return_inverse=True)
    grounds = [objects[at] for at in chosen.tolist()]
    fills, is_sure = _ground_paint(grounds)
    is_path = np.fromiter((each.kind == pdfium.FPDF_PAGEOBJ_PATH for each in grounds), np.bool_, len(grounds))
    is_plain = is_path & (fills != PATTERN).any(axis=1)
    is_later = chosen[which] > texts[text]
    contrast = is_plain[which] & (difference(fills[which], colours[text]) >= _SURELY_SEEN)
    hides = np.where(is_later, ~(is_plain & is_marker(fills))[which], ~contrast)
    by_shape = np.flatnonzero(hides & is_path[which])
    by_shape = by_shape[np.argsort(which[by_shape], kind="stable")]
    for some in np.split(by_shape, np.flatnonzero(np.diff(which[by_shape])) + 1)[:_MOST_SHAPES]:
        hides[some] = _paints_on(grounds[which[some[0]]], boxes[texts[text[some]]]) if len(some) else False
    lost = is_on_paper.copy()
    lost[text[hides]] = True
    is_ground = lost[text] & ~is_later & is_sure[which] & contrast
    rectangles = np.full((len(chosen), 4), np.nan, np.float32)
    for number in np.unique(which[is_ground]).tolist():
        rectangles[number] = cover(grounds[number]) or np.nan
    is_ground &= are_inside(boxes[texts[text]], rectangles[which])
    ground = np.full(len(texts), -1)
    np.maximum.at(ground, text[is_ground], which[is_ground])
    lost = is_on_paper & (ground < 0)
    lost[text[hides & (which > ground[text])]] = True
    return lost


def _ground_paint(grounds: Sequence[Painted]) -> Paint:
    """The paint of grounds; of lines that are as thick as one, the colour of the stroke, which is not sure."""
    handles = [each.handle for each in grounds]
    fills, is_sure = _paint(grounds, handles)
    for number, ground in enumerate(grounds):
        if ground.kind == pdfium.FPDF_PAGEOBJ_PATH and not _draw_mode(ground)[0]:
            is_sure[number] = False
            fills[number] = _colours(pdfium.FPDFPageObj_GetStrokeColor, [ground.handle])[0][0, :3]
    return Paint(fills, is_sure)


def _draw_mode(path: Painted) -> tuple[int, float]:
    """How a path is filled, and the width of its line, in points."""
    fill, stroke, width = ctypes.c_int(), ctypes.c_int(), ctypes.c_float()
    pdfium.FPDFPath_GetDrawMode(path.handle, fill, stroke)
    pdfium.FPDFPageObj_GetStrokeWidth(path.handle, width)
    return fill.value, width.value if stroke.value else 0.0


def _paints_on(path: Painted, boxes: Floats) -> Flags:
    """True for boxes on whose middle line, the longer one, a path's fill lies somewhere, or a thick line of it may."""
    count, (fill, width) = int(pdfium.FPDFPath_CountSegments(path.handle)), _draw_mode(path)
    if width >= SMALLEST_SIDE or not fill or count * len(boxes) > _MOST_CROSSINGS:
        return np.full(len(boxes), bool(fill or width >= SMALLEST_SIDE))
    clip = common(clip_boxes(path))
    if clip is not None:
        boxes = np.concatenate((np.maximum(boxes[:, :2], clip[:2]), np.minimum(boxes[:, 2:], clip[2:])), axis=1)
    starts, ends = _edges(path, count)
    sides = boxes[:, 2:] - boxes[:, :2]
    is_wide = (sides[:, :1] >= sides[:, 1:]) == (True, False)
    x, y = (boxes[:, :2, None] + sides[:, :, None] * np.where(is_wide[..., None], _ALONG, 0.5)).transpose(1, 0, 2)
    x, y = x[..., None], y[..., None]
    crosses = (starts[:, 1] > y) != (ends[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (ends[:, 0] - starts[:, 0]) / (ends[:, 1] - starts[:, 1])
        crosses &= x < starts[:, 0] + (y - starts[:, 1]) * slope
    if fill == pdfium.FPDF_FILLMODE_ALTERNATE:
        inside = crosses.sum(axis=2) % 2 == 1
    else:
        inside = (crosses * np.sign(ends[:, 1] - starts[:, 1])).sum(axis=2) != 0
    return np.asarray(inside.any(axis=1) & (sides > 0).all(axis=1))


def _edges(path: Painted, count: int) -> tuple[Floats, Floats]:
    """The starts and ends [n, 2] of a path's edges on the page; of curves, between their control points."""
    points, kinds = np.zeros((count, 2), np.float32), np.zeros(count, np.int32)
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path.handle, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        points[index], kinds[index] = (x.value, y.value), pdfium.FPDFPathSegment_GetType(segment)
    points = np.stack(moved((points[:, 0], points[:, 1]), (own_matrix(path.handle), *path.matrices)), axis=1)
    first = np.flatnonzero(kinds == pdfium.FPDF_SEGMENT_MOVETO)
    ends = np.roll(points, -1, axis=0)
    ends[np.append(first[1:], count)[: len(first)] - 1] = points[first]
    return points, ends
