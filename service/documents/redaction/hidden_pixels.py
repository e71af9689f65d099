"""Pixels of images that no page shows go: below a bar, behind a clip, beside the page, transparent, drawn too small.

    objects of the pages → images that surely show whole, and others
    → the others: the pages drawn with each of them black and white, or with it and without
    → pixels that make no difference anywhere become one colour
    → images that are no objects of a page (in patterns, soft masks, glyphs): emptied; where that makes a difference,
      a picture of that place as it was is laid over the page

An image of which nothing is hidden is not touched. Hidden strips narrower than some points, such as those below
letters and rules, do not count.
"""

from __future__ import annotations

import ctypes
import io
import math
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium
from pikepdf import Name
from PIL import Image, ImageFilter

from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.drawing import PageView
from service.documents.pdf.glyphs import PageFrame
from service.documents.pdf.page_objects import (
    Painted,
    boxes_of,
    clip_boxes,
    is_invisible,
    moved,
    own_matrix,
    painted_objects,
)
from service.documents.pdf.reader import loaded_page, opened_pdf
from service.documents.redaction.bare_images import UNSEEN, new_image, put_shown, rendered
from service.documents.redaction.rasterizing import DOTS_PER_POINT, MOST_DOTS
from service.documents.redaction.resource_walk import UsedImages, used_images

HIDDEN_PIXELS = "HiddenPixels"
"""Name of removed pixels in a report."""
_SCALE, _MOST_DRAWN = 2.0, 6_000_000
"""Pixels of a drawing for a point, and most pixels of it."""
_STRIP = 2
"""Pixels of a drawing around a hidden one that are hidden too, if it counts."""
_SLACK = 0.5
"""Points by which an image may reach beyond its clip, or another object into it."""
_THIN, _DENSE, _LEFT = 2.0, 16, 8
"""Points of a side below which an image is thin; its pixels a point that are too many there, and how many stay."""
_MOST_BATCHES, _MOST_IMAGES = 12, 400
"""Groups of overlapping images that are drawn, and images of a page that are compared with what is painted later."""
_MOST_SIDE = 2_000
_ROW = 1_000
_WHITE, _BLACK, _RED = b"\xff\xff\xff", b"\0\0\0", b"\xff\0\0"
_COLOUR_BLENDS = ("/Hue", "/Saturation", "/Color", "/Luminosity")


class _Place(NamedTuple):
    """A place of an image: its number, its corners on the page as shown (lower left, lower right, upper left).

    `is_sure`: all of it shows.
    """

    number: int
    corners: Floats
    is_sure: bool

    @property
    def box(self) -> tuple[float, float, float, float]:
        low, right, up = self.corners
        around = np.stack((low, right, up, right + up - low))
        return (*around.min(axis=0).tolist(), *around.max(axis=0).tolist())

    @property
    def sides(self) -> tuple[float, float]:
        low, right, up = self.corners
        return float(np.hypot(*(right - low))), float(np.hypot(*(up - low)))


Places = dict[int, list[_Place]]
"""Page → the places of its images."""


def drop_hidden_pixels(pdf: pikepdf.Pdf, used: UsedImages) -> bool:
    """Take what pages do not show out of the images of a file, in place; whether there was any."""
    if not used.images:
        return False
    images = list(used.images.values())
    data = _saved(pdf)
    are_masked = [_is_masked(each) for each in images]
    places = _places(_variant(data, dict.fromkeys(range(len(images)), _BLACK), used.but), used)
    sure = {each.number for here in places.values() for each in here if each.is_sure and not are_masked[each.number]}
    left = {page: [each for each in here if each.number not in sure] for page, here in places.items()}
    batches, doubtful = _batches(left)
    seen = _seen(data, used.but, are_masked, left, batches)
    placed = {each.number for here in places.values() for each in here}
    doubtful |= set(range(len(images))) - placed
    changed = False
    for number in sorted(placed - doubtful):
        own = [each for here in places.values() for each in here if each.number == number]
        changed |= _blank(pdf, images[number], own, None if number in sure else seen[number])
    if doubtful:
        pages = sorted({page for number in doubtful for page in used.pages[images[number].objgen]})
        changed |= _lay_over(pdf, [images[number] for number in sorted(doubtful)], pages)
    return changed


def _saved(pdf: pikepdf.Pdf) -> bytes:
    written = io.BytesIO()
    pdf.save(written)
    return written.getvalue()


def _is_masked(image: Any) -> bool:
    return "/SMask" in image or "/Mask" in image or image.get("/ImageMask") is True


def _variant(data: bytes, colours: Mapping[int, bytes | None], but: Collection[int]) -> bytes:
    """The file with images, by their numbers, of one colour and of a size that tells the number; None: transparent."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        images = list(used_images(pdf, but).images.values())
        for number, colour in colours.items():
            size = 1 + number % _ROW, 1 + number // _ROW
            if colour is None:
                put_shown(pdf, images[number], np.zeros((1, 1, 4), np.uint8))
                continue
            for key in set(images[number].keys()) - {"/Length"}:
                del images[number][key]
            images[number].write(zlib.compress(colour * (size[0] * size[1])), filter=Name.FlateDecode)
            images[number].update(new_image(*size, ColorSpace=Name.DeviceRGB, BitsPerComponent=8))
        return _saved(pdf)


def _places(data: bytes, used: UsedImages) -> Places:
    """The places of images on the pages that have some."""
    with opened_pdf(data) as document:
        places = {}
        for number in sorted(set().union(*used.pages.values())):
            with loaded_page(document, number) as page:
                places[number] = list(_places_on(page))
        return places


def _places_on(page: Any) -> Iterator[_Place]:
    objects, is_whole = painted_objects(page)
    frame, boxes = PageFrame.of(page), boxes_of(objects)
    found = [at for at, each in enumerate(objects) if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE]
    is_ink = np.array([each.kind != pdfium.FPDF_PAGEOBJ_TEXT or not is_invisible(each.handle) for each in objects])
    for at in found:
        x, y = moved((np.array((0, 1, 0), np.float32), np.array((0, 0, 1), np.float32)),
                     (own_matrix(objects[at].handle), *objects[at].matrices))  # fmt: skip
        corners = frame.shown(np.stack((x, y, x, y), axis=1))[:, :2]
        if np.isfinite(corners).all():
            may_be_sure = is_whole and len(found) <= _MOST_IMAGES
            later = boxes[at + 1 :][is_ink[at + 1 :]]
            is_sure = may_be_sure and _shows_whole(objects[at], boxes[at], later, frame)
            yield _Place(_number(objects[at].handle), corners, is_sure)


def _number(handle: Any) -> int:
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    pdfium.FPDFImageObj_GetImagePixelSize(handle, wide, high)
    return wide.value - 1 + (high.value - 1) * _ROW


def _shows_whole(image: Painted, box: Floats, later: Floats, frame: PageFrame) -> bool:
    """True if an image is opaque, within its clips and the page, large enough, and nothing is painted over it."""
    clips = clip_boxes(image)
    if clips is None or not image.is_opaque or pdfium.FPDFPageObj_HasTransparency(image.handle):
        return False
    limits = np.array([*clips, (frame.left, frame.bottom, frame.right, frame.top)], np.float32)
    if (limits[:, :2] > box[:2] + _SLACK).any() or (limits[:, 2:] < box[2:] - _SLACK).any():
        return False
    common = np.minimum(later[:, 2:], box[2:]) - np.maximum(later[:, :2], box[:2])
    return bool((box[2:] - box[:2] >= _THIN).all()) and not bool((common > _SLACK).all(axis=1).any())


def _batches(places: Places) -> tuple[list[set[int]], set[int]]:
    """Groups of images of which no two overlap on a page; and those for which there was no group."""
    near: dict[int, set[int]] = {}
    for here in places.values():
        boxes = np.array([each.box for each in here], np.float32).reshape(-1, 4)
        for at, each in enumerate(here):
            common = np.minimum(boxes[:, 2:], boxes[at, 2:]) - np.maximum(boxes[:, :2], boxes[at, :2])
            others = {here[other].number for other in np.flatnonzero((common > _SLACK).all(axis=1)).tolist()}
            near.setdefault(each.number, set()).update(others - {each.number})
    batches = [set[int]() for _ in range(_MOST_BATCHES)]
    left_over = set()
    for number, others in near.items():
        batch = next((each for each in batches if not each & others), None)
        if batch is None:
            left_over.add(number)
        else:
            batch.add(number)
    return [each for each in batches if each], left_over


def _seen(
    data: bytes, but: Collection[int], are_masked: Sequence[bool], places: Places, batches: Iterable[set[int]]
) -> dict[int, Flags]:
    """Image → for each cell of a grid over it, as fine as the drawing at its largest place, whether it shows."""
    largest: dict[int, tuple[int, int]] = {}
    for each in (each for here in places.values() for each in here):
        size = tuple(min(max(math.ceil(side * _SCALE), 1), _MOST_SIDE) for side in each.sides)
        largest[each.number] = max(largest.get(each.number, (0, 0)), (size[0], size[1]))
    seen = {number: np.zeros((high, wide), np.bool_) for number, (wide, high) in largest.items()}
    black = {number: _BLACK for number in seen if not are_masked[number]}
    colours = (_WHITE, _RED) if any(each.encode() in data for each in _COLOUR_BLENDS) else (_WHITE,)
    if not seen:
        return seen
    before = _variant(data, black, but)
    for batch in batches:
        for colour in colours:
            other = {number: None if are_masked[number] else colour for number in batch}
            _compare(before, _variant(data, {**black, **other}, but), places, batch, seen)
    return seen


def _compare(before: bytes, after: bytes, places: Places, batch: set[int], seen: dict[int, Flags]) -> None:
    """Note the cells of images of a batch where two files differ."""
    with opened_pdf(before) as first, opened_pdf(after) as second:
        for number, here in places.items():
            own = [each for each in here if each.number in batch]
            if not own:
                continue
            view, differs = _differences(first, second, number, [each.box for each in own])
            for each in own:
                seen[each.number] |= view.on(Image.fromarray(differs), each.corners, seen[each.number].shape)


def _differences(
    first: pypdfium2.PdfDocument, second: pypdfium2.PdfDocument, number: int, boxes: Sequence[tuple[float, ...]]
) -> tuple[PageView, Flags]:
    """The part of a page that boxes lie in, and True for its pixels that differ in two files."""
    with loaded_page(first, number) as before, loaded_page(second, number) as after:
        view = _view(PageFrame.of(before), boxes, _SCALE, _MOST_DRAWN)
        one, other = view.drawn(before), view.drawn(after)
    return view, np.asarray((np.maximum(one, other) - np.minimum(one, other)).max(axis=2) >= UNSEEN)


def _view(frame: PageFrame, boxes: Sequence[tuple[float, ...]], scale: float, most_pixels: int) -> PageView:
    return PageView.of((frame.width, frame.height), np.array(boxes, np.float32), scale, most_pixels)


def _blank(pdf: pikepdf.Pdf, image: Any, places: Sequence[_Place], seen: Flags | None) -> bool:
    """Give an image one colour where it is not seen, and fewer pixels where it is thin; whether that changed it."""
    hidden = None if seen is None else _hidden(seen)
    thin = _thin_size(image, places)
    if (hidden is None or not hidden.any()) and thin is None:
        return False
    if hidden is not None and hidden.all():
        put_shown(pdf, image, np.zeros((1, 1, 4), np.uint8))
        return True
    pixels = rendered(image)
    if hidden is not None:
        shows = Image.fromarray((~hidden).astype(np.uint8) * 255)
        away = np.asarray(shows.resize(pixels.shape[1::-1], Image.Resampling.BOX)) == 0
        if thin is None and not pixels[away, 3].any():
            return False
        pixels[away] = 0 if _is_masked(image) else 255
    if thin is not None:
        pixels = np.array(Image.fromarray(pixels).resize(thin, Image.Resampling.BOX))
    put_shown(pdf, image, pixels)
    return True


def _hidden(seen: Flags) -> Flags:
    """The cells that are hidden: all, or those of strips that are wide enough."""
    if not seen.any():
        return ~seen
    padded = np.pad(seen, _STRIP, constant_values=True)
    core = ~_grown(padded, _STRIP)
    return _grown(core, _STRIP - 1)[_STRIP:-_STRIP, _STRIP:-_STRIP]


def _grown(flags: Flags, by: int) -> Flags:
    return np.asarray(Image.fromarray(flags.astype(np.uint8) * 255).filter(ImageFilter.BoxBlur(by))) > 0


def _thin_size(image: Any, places: Sequence[_Place]) -> tuple[int, int] | None:
    """The pixels of an image that is so thin that they show nothing, so that nobody can read it; None: as it is."""
    pixels = int(image["/Width"]), int(image["/Height"])
    sides = [max(each.sides[axis] for each in places) for axis in (0, 1)]
    left = [
        max(math.ceil(side * _LEFT), 1) if side < _THIN and count > side * _DENSE else count
        for side, count in zip(sides, pixels, strict=True)
    ]
    return None if tuple(left) == pixels else (left[0], left[1])


def _lay_over(pdf: pikepdf.Pdf, images: Sequence[Any], pages: Sequence[int]) -> bool:
    """Empty images, and lay a picture of its place as it was over each page that shows them; whether one was."""
    before = _saved(pdf)
    for image in images:
        put_shown(pdf, image, np.zeros((1, 1, 4), np.uint8))
    changed = False
    with opened_pdf(before) as first, opened_pdf(_saved(pdf)) as second:
        for page in pages:
            view, differs = _differences(first, second, page, [(0, 0, math.inf, math.inf)])
            rows, columns = np.nonzero(differs)
            if len(rows):
                low = np.array((columns.min(), rows.min())) / view.scale
                high = np.array((columns.max() + 1, rows.max() + 1)) / view.scale
                _put_over(pdf, first, page, (*low.tolist(), *high.tolist()))
                changed = True
    return changed


def _put_over(pdf: pikepdf.Pdf, document: pypdfium2.PdfDocument, number: int, area: tuple[float, ...]) -> None:
    """Lay a picture of a part of a page as it was over it."""
    with loaded_page(document, number) as loaded:
        frame = PageFrame.of(loaded)
        view = _view(frame, [area], DOTS_PER_POINT, MOST_DOTS)
        pixels = view.drawn(loaded)
    opaque = np.full((*pixels.shape[:2], 1), 255, np.uint8)
    image = pdf.make_indirect(pikepdf.Stream(pdf, b""))
    put_shown(pdf, image, np.concatenate((pixels, opaque), axis=2))
    to_shown = frame.shown(np.array(((0, 0, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1)), np.float32))[:, :2].astype(float)
    turn, shift = to_shown[1:] - to_shown[0], to_shown[0]
    left, top = np.array(view.corner) / view.scale
    right, bottom = (np.array(view.corner) + view.size) / view.scale
    low, along, up = (np.array(((left, bottom), (right, bottom), (left, top))) - shift) @ np.linalg.inv(turn)
    matrix = (*(along - low), *(up - low), *low)
    page = pdf.pages[number - 1]
    name = page.add_resource(image, Name.XObject)
    page.contents_add(b"q\n", prepend=True)
    page.contents_add(("\nQ\nq " + " ".join(f"{each:.4f}" for each in matrix) + f" cm {name} Do Q\n").encode())
