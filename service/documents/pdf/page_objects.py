"""Objects of a PDF page in the order in which it paints them, and the characters that boxes painted later hide.

A correction is often a box in the paper's colour over the old text, with the new text on it; a reader that knows
characters alone would read both. Only a filled upright rectangle without any transparency hides what it covers, and
none that is larger than half the page: behind such a ground, texts of scans are kept (as below an image).
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Flags, Floats

Box = tuple[float, float, float, float]
Point = tuple[float, float]
_Coordinate = TypeVar("_Coordinate", float, Floats)

MOST_OBJECTS, _DEEPEST = 40_000, 8  # of a page with its forms, then as many texts; and of forms within forms
SMALLEST_SIDE = 3.0
"""Points: lower or narrower boxes are rules, which hide no character."""
_LARGEST = 0.5
"""Largest share of the page's area of a box."""
_HIDDEN = 0.85
"""Least shares of a character's width and height in the box painted over it."""
_PAIRS_AT_ONCE = 250_000
"""Pairs of a box and a character that are compared in one step; those of a single box may be more."""
_MOST_PAIRS = 8_000_000
"""Pairs of a box and a character of its height that are compared; a page with more is a maze."""
MOST_CLIPS = 32
"""Clips of an object that are looked at."""
_MOST_CORNERS = 6
_BRIGHT, _COLOURED = 224, 176
"""Strongest and weakest of red, green and blue, of 255, in a marker's colour: viewers show text through it, also
where the file forgets to say so."""
PATTERN = [191, 191, 191]
"""pdfium's colour for a pattern, which may leave gaps."""
_SAME = 0.05
"""Points between coordinates of one edge."""


class Painted(NamedTuple):
    """An object that is no form; `outer` is the object of the page itself that holds it, or it itself.

    Attributes:
        matrices: of the forms that hold it, the innermost first.
        clips: their boxes on the page.
        is_opaque: none of them is transparent.
    """

    handle: Any
    kind: int
    outer: Any
    matrices: tuple[pdfium.FS_MATRIX, ...] = ()
    clips: tuple[Box, ...] = ()
    is_opaque: bool = True


def painted_objects(page: Any) -> tuple[list[Painted], bool]:
    """The objects of a loaded page, those of forms among them, in their order; and whether these are all.

    Beyond the first ones only texts are among them, which may be hidden.
    """
    walk = _Walk()
    for thing in _objects(page, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject):
        if not walk.add(Painted(thing, walk.kind_of(thing), thing)):
            break
    return walk.found, walk.is_whole


_Kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class _Walk:
    """Collects objects, of which a file may claim to have any number."""

    def __init__(self) -> None:
        self.found: list[Painted] = []
        self.is_whole = True
        self.kind_of = _Kind(address(pdfium.FPDFPageObj_GetType))
        self._left = self._texts_left = MOST_OBJECTS

    def add(self, painted: Painted) -> bool:
        """Add an object, or those of a form; False if there is no room for more."""
        if self._left:
            self._left -= 1
        else:
            self.is_whole = False
            if painted.kind not in (pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_FORM):
                return True
            if not self._texts_left:
                return False
            self._texts_left -= 1
        if painted.kind != pdfium.FPDF_PAGEOBJ_FORM:
            self.found.append(painted)
            return True
        form, clip = painted.handle, clip_boxes(painted)
        is_opaque = painted.is_opaque and clip is not None and not pdfium.FPDFPageObj_HasTransparency(form)
        inner = (painted.outer, (own_matrix(form), *painted.matrices), tuple(clip or ()), is_opaque)
        things = _objects(form, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
        if len(painted.matrices) >= _DEEPEST:
            self.is_whole &= next(things, None) is None
            return True
        return all(self.add(Painted(thing, self.kind_of(thing), *inner)) for thing in things)


def _objects(holder: Any, count: Callable[[Any], int], get: Callable[[Any, int], Any]) -> Iterator[Any]:
    return (get(holder, index) for index in range(max(int(count(holder)), 0)))


def hidden_characters(
    objects: Sequence[Painted],
    boxes: Floats,
    text_page: Any,
    shown: Floats,
    to_shown: Callable[[Floats], Floats],
    area: float,
) -> Flags:
    """True for the characters of a text page that a box painted over them hides.

    Args:
        boxes: of all objects on the page.
        shown: float32 [n, 4], their ink boxes on the page as shown; `to_shown` makes such boxes of the page's own.
        area: of the page, in square points.
    """
    hidden = np.zeros(len(shown), np.bool_)
    texts = [index for index, each in enumerate(objects) if each.kind == pdfium.FPDF_PAGEOBJ_TEXT]
    later = range(texts[0], len(objects)) if texts else range(0)
    paths = [at for at in later if objects[at].kind == pdfium.FPDF_PAGEOBJ_PATH and objects[at].is_opaque]
    if not paths:
        return hidden
    boxes = to_shown(boxes[paths])
    places = {address(objects[at].handle): at for at in texts}
    order, unknown = np.full(len(shown), -1, np.int64), len(objects)
    for numbers, below in under(boxes, shown, _LARGEST * area) or ():
        asked = np.unique(below[order[below] < 0])
        order[asked] = [places.get(each, unknown) for each in text_objects(text_page, asked.tolist())]
        is_earlier = (order[below] < np.array(paths)[numbers]) & ~hidden[below]
        numbers, below = numbers[is_earlier], below[is_earlier]
        for number in np.unique(numbers).tolist():
            boxes[number] = to_shown(np.array([cover(objects[paths[number]]) or [np.nan] * 4], np.float32))[0]
        hidden[below[are_inside(shown[below], boxes[numbers])]] = True
    return hidden


_TextObject = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


def text_objects(text_page: Any, characters: Sequence[int]) -> Iterator[int]:
    """The addresses of the text objects that hold characters of a text page; 0: none does."""
    call = _TextObject(address(pdfium.FPDFText_GetTextObject))
    return (each or 0 for each in map(call, repeat(address(text_page)), characters))


_Bounds = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *(ctypes.c_void_p for _ in range(4)))


def boxes_of(objects: Sequence[Painted]) -> Floats:
    """The boxes [left, bottom, right, top] on the page that objects lie in."""
    boxes = np.zeros((len(objects), 4), np.float32)
    base, end = boxes.ctypes.data, boxes.ctypes.data + boxes.nbytes
    sides = (range(base + side, end + side, 16) for side in (0, 4, 8, 12))
    bounds = _Bounds(address(pdfium.FPDFPageObj_GetBounds))
    deque(map(bounds, (each.handle for each in objects), *sides), maxlen=0)
    start = 0
    for _, group in groupby(objects, key=lambda each: id(each.matrices)):
        some = list(group)
        if some[0].matrices:
            part = boxes[start : start + len(some)]
            part[:] = _moved_boxes(part, some[0].matrices)
        start += len(some)
    return boxes


def _moved_boxes(boxes: Floats, matrices: Sequence[pdfium.FS_MATRIX]) -> Floats:
    """The boxes around boxes whose corners are moved."""
    left, bottom, right, top = boxes.T
    x, y = moved((np.stack((left, right, left, right)), np.stack((bottom, top, top, bottom))), matrices)
    return np.stack((x.min(axis=0), y.min(axis=0), x.max(axis=0), y.max(axis=0)), axis=1)


def address(pointer: Any) -> int:
    return ctypes.c_void_p.from_buffer(pointer).value or 0


def under(
    boxes: Floats, shown: Floats, largest: float, share: float = _HIDDEN
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] | None:
    """Pairs of a box, neither narrow nor larger than `largest`, and a character below it: the numbers of both.

    They come in parts, since a file may have any number of boxes over the same characters; those of a box together.
    None if too many would have to be compared.
    """
    sides = boxes[:, 2:] - boxes[:, :2]
    middles = (shown[:, 1] + shown[:, 3]) / 2
    order = np.argsort(middles)
    firsts, lasts = np.searchsorted(middles[order], boxes[:, 1]), np.searchsorted(middles[order], boxes[:, 3])
    is_over = (sides.min(axis=1) >= SMALLEST_SIDE) & (sides.prod(axis=1) <= largest) & (lasts > firsts)
    chosen = np.flatnonzero(is_over)
    pairs = np.cumsum((lasts - firsts)[chosen])
    if pairs[-1:].sum() > _MOST_PAIRS:
        return None

    def part(some: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        box = some.repeat(lasts[some] - firsts[some])
        character = order[np.concatenate([np.arange(firsts[each], lasts[each]) for each in some.tolist()])]
        inside = are_inside(shown[character], boxes[box], share)
        return box[inside], character[inside]

    return map(part, np.split(chosen, np.flatnonzero(np.diff(pairs // _PAIRS_AT_ONCE)) + 1) if len(chosen) else ())


def are_inside(shown: Floats, boxes: Floats, share: float = _HIDDEN) -> Flags:
    """True where a character lies in the box beside it, nearly as a whole."""
    common = np.minimum(shown[:, 2:], boxes[:, 2:]) - np.maximum(shown[:, :2], boxes[:, :2])
    return np.asarray((common >= share * (shown[:, 2:] - shown[:, :2])).all(axis=1) & (common > 0).all(axis=1))


def cover(path: Painted) -> Box | None:
    """The box on the page that a path paints over, if it hides what is below."""
    count = int(pdfium.FPDFPath_CountSegments(path.handle))
    if not (path.is_opaque and 4 <= count <= _MOST_CORNERS):
        return None
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    colour = [ctypes.c_uint() for _ in range(4)]
    pdfium.FPDFPath_GetDrawMode(path.handle, fill, stroke)
    if not fill.value or pdfium.FPDFPageObj_HasTransparency(path.handle):
        return None
    pdfium.FPDFPageObj_GetFillColor(path.handle, *colour)
    rgb = [each.value for each in colour[:3]]
    if rgb == PATTERN or is_marker(np.array([rgb])).any():
        return None
    matrix = own_matrix(path.handle)
    segments = (pdfium.FPDFPath_GetPathSegment(path.handle, index) for index in range(count))
    box = _rectangle(segments, (matrix, *path.matrices))
    clip = clip_boxes(path)
    if box is None or clip is None:
        return None
    return common((box, *clip))


def common(boxes: Sequence[Box] | None) -> Box | None:
    """The part that boxes share; its right may be left of its left."""
    if not boxes:
        return None
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return max(lefts), max(bottoms), min(rights), min(tops)


def clip_boxes(painted: Painted) -> list[Box] | None:
    """The boxes on the page within which an object shows; None if it shows within something else, or too many."""
    clip = pdfium.FPDFPageObj_GetClipPath(painted.handle)
    boxes = list(painted.clips)
    own = int(pdfium.FPDFClipPath_CountPaths(clip)) if clip else 0
    if len(boxes) + own > MOST_CLIPS:
        return None
    for number in range(own):
        count = int(pdfium.FPDFClipPath_CountPathSegments(clip, number))
        if not 4 <= count <= _MOST_CORNERS:
            return None
        segments = (pdfium.FPDFClipPath_GetPathSegment(clip, number, index) for index in range(count))
        box = _rectangle(segments, painted.matrices)
        if box is None:
            return None
        boxes.append(box)
    return boxes


def is_marker(colours: npt.NDArray[Any]) -> Flags:
    """True for colours [n, 3] of a marker."""
    return np.asarray((colours.max(axis=1) >= _BRIGHT) & (colours.min(axis=1) <= _COLOURED))


def _rectangle(segments: Iterator[Any], matrices: Sequence[pdfium.FS_MATRIX]) -> Box | None:
    """The upright rectangle that these segments are, moved by matrices one after the other; None if they are none."""
    points: list[Point] = []
    for segment in segments:
        x, y = ctypes.c_float(), ctypes.c_float()
        if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_BEZIERTO:
            return None
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        points.append(moved((x.value, y.value), matrices))
    xs, ys = [x for x, _ in points], [y for _, y in points]
    box = (min(xs), min(ys), max(xs), max(ys))
    corners = {(_nearest(x, box[0], box[2]), _nearest(y, box[1], box[3])) for x, y in points}
    is_upright = all(min(abs(a[0] - b[0]), abs(a[1] - b[1])) <= _SAME for a, b in pairwise(points))
    return box if is_upright and len(corners) == 4 and all(None not in corner for corner in corners) else None


def _nearest(value: float, low: float, high: float) -> bool | None:
    """True if a coordinate is the higher edge's; None if it is of neither."""
    return False if value - low <= _SAME else True if high - value <= _SAME else None


def own_matrix(handle: Any) -> pdfium.FS_MATRIX:
    """The matrix of a form or a path."""
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(handle, matrix)
    return matrix


def moved(
    point: tuple[_Coordinate, _Coordinate], matrices: Sequence[pdfium.FS_MATRIX]
) -> tuple[_Coordinate, _Coordinate]:
    """A point, or many, moved by matrices one after the other."""
    x, y = point
    for m in matrices:
        x, y = m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f
    return x, y


def is_invisible(text_object: Any) -> bool:
    """True if a text object paints nothing."""
    return bool(pdfium.FPDFTextObj_GetTextRenderMode(text_object) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)
