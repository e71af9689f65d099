"""Walk through the resources of a PDF's pages: which images each of them may paint, however deep they stand.

Images stand in pages, forms, tiling patterns, soft masks and the glyphs of Type 3 fonts. Those within streams, between
operators, are made images of the resources first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

_DEEPEST = 24
_CATEGORIES = ("/XObject", "/Pattern", "/ExtGState", "/Font")
_INLINE = re.compile(rb"\bBI\b.*?\bID\b", re.DOTALL)
_MASKS = ("/SMask", "/Mask")
_LARGEST_GLYPH = 256
"""Pixels of a side of a glyph in a bitmap font; 24 points with 600 dots an inch have 200."""
Number = tuple[int, int]


@dataclass(slots=True)
class UsedImages:
    """The images of a file that pages may paint; the pages, from 1, whose resources hold each; and glyphs of bits."""

    images: dict[Number, Any] = field(default_factory=dict)
    pages: dict[Number, set[int]] = field(default_factory=dict)
    glyphs: dict[Number, Any] = field(default_factory=dict)
    but: Collection[int] = ()


def used_images(pdf: pikepdf.Pdf, but: Collection[int] = ()) -> UsedImages:
    """The images that the pages of a file, but these, may paint. Images that no page may paint are emptied."""
    walk, used, kept = _Walk(pdf), UsedImages(but=but), set[Number]()
    for number, page in enumerate(pdf.pages, 1):
        walk.name_inline_images(page.obj.get("/Contents"), page.obj, None)
        for image, is_glyph in walk.images(page.obj.get("/Resources"), 0):
            kept |= {image.objgen, *(image[key].objgen for key in _MASKS if isinstance(image.get(key), pikepdf.Stream))}
            if is_glyph:
                used.glyphs[image.objgen] = image
            elif number not in but:
                used.images[image.objgen] = image
                used.pages.setdefault(image.objgen, set()).add(number)
    for thing in pdf.objects:
        if isinstance(thing, pikepdf.Stream) and thing.get("/Subtype") == Name.Image and thing.objgen not in kept:
            thing.write(b"")
    return used


class _Walk:
    """Goes through resources, through each object once."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self._pdf = pdf
        self._known: dict[Number, list[tuple[Any, bool]]] = {}

    def images(self, resources: Any, depth: int) -> Iterator[tuple[Any, bool]]:
        """The images of resources, and whether each is a glyph's."""
        for category in _CATEGORIES if isinstance(resources, Dictionary) and depth < _DEEPEST else ():
            held = resources.get(category)
            for value in dict(held.items()).values() if isinstance(held, Dictionary) else ():
                if isinstance(value, pikepdf.Stream) and value.get("/Subtype") == Name.Image:
                    yield value, False
                elif isinstance(value, (Dictionary, pikepdf.Stream)):
                    yield from self._held(value, resources, depth)

    def _held(self, value: Any, outer: Any, depth: int) -> list[tuple[Any, bool]]:
        if value.objgen not in self._known:
            known = list[tuple[Any, bool]]()
            if value.objgen != (0, 0):
                self._known[value.objgen] = known
            known += self._inner(value, outer, depth)
            return known
        return self._known[value.objgen]

    def _inner(self, value: Any, outer: Any, depth: int) -> Iterator[tuple[Any, bool]]:
        """The images of a form, a pattern, a soft mask or a font."""
        mask = value.get("/SMask")
        streams = [value] if isinstance(value, pikepdf.Stream) else []
        streams += [mask["/G"]] if isinstance(mask, Dictionary) and isinstance(mask.get("/G"), pikepdf.Stream) else []
        for stream in streams:
            self.name_inline_images(stream, stream, outer)
            yield from self.images(stream.get("/Resources"), depth + 1)
        if isinstance(glyphs := value.get("/CharProcs"), Dictionary):
            for glyph in dict(glyphs.items()).values():
                self.name_inline_images(glyph, value, outer)
            for image, _ in self.images(value.get("/Resources"), depth + 1):
                yield image, _is_glyph(image)

    def name_inline_images(self, content: Any, holder: Any, outer: Any) -> None:
        """Make the images between the operators of a content images of its holder's resources."""
        streams = list(content) if isinstance(content, Array) else [content]
        parts = [each for each in streams if isinstance(each, pikepdf.Stream)]
        if not any(_INLINE.search(each.read_bytes()) for each in parts):
            return
        resources = Dictionary(dict((holder.get("/Resources") or outer or Dictionary()).items()))
        page = Dictionary(Type=Name.Page, Contents=content, Resources=resources)
        named = pikepdf.Page(self._pdf.make_indirect(page))
        named.externalize_inline_images(0, shallow=True)
        holder["/Resources"] = named.obj["/Resources"]
        if holder.get("/Type") == Name.Page:
            holder["/Contents"] = named.obj["/Contents"]
        else:
            content.write(named.obj["/Contents"].read_bytes())


def _is_glyph(image: Any) -> bool:
    """True for an image of a bitmap font's glyph: small, of one colour."""
    is_small = max(int(image.get(key, 0)) for key in ("/Width", "/Height")) <= _LARGEST_GLYPH
    return is_small and image.get("/ImageMask") is True
