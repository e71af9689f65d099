"""Walk through the resources of a PDF's pages: which images each of them may paint, however deep they stand.

Images stand in pages, forms, tiling patterns, soft masks and the glyphs of Type 3 fonts. Those within streams, between
operators, are made images of the resources first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

_DEEPEST = 24
_CATEGORIES = ("/XObject", "/Pattern", "/ExtGState", "/Font")
_INLINE = re.compile(rb"\bBI\b.*?\bID\b", re.DOTALL)
Number = tuple[int, int]


@dataclass(slots=True)
class UsedImages:
    """The images of a file that pages may paint; and the pages, from 1, whose resources hold each."""

    images: dict[Number, Any] = field(default_factory=dict)
    pages: dict[Number, set[int]] = field(default_factory=dict)


def used_images(pdf: pikepdf.Pdf) -> UsedImages:
    """The images that the pages of a file may paint. All other images of the file are emptied."""
    used, masks = UsedImages(), set[Number]()
    for number, page in enumerate(pdf.pages, 1):
        _name_inline_images(pdf, page.obj.get("/Contents"), page.obj)
        for image in _images(pdf, page.obj.get("/Resources"), set(), 0):
            used.images[image.objgen] = image
            used.pages.setdefault(image.objgen, set()).add(number)
            masks |= {image[key].objgen for key in ("/SMask", "/Mask") if isinstance(image.get(key), pikepdf.Stream)}
    for thing in pdf.objects:
        is_image = isinstance(thing, pikepdf.Stream) and thing.get("/Subtype") == Name.Image
        if is_image and thing.objgen not in used.images and thing.objgen not in masks:
            thing.write(b"")
    return used


def _images(pdf: pikepdf.Pdf, resources: Any, seen: set[Number], depth: int) -> Iterator[Any]:
    if not isinstance(resources, Dictionary) or depth > _DEEPEST:
        return
    for category in _CATEGORIES:
        held = resources.get(category)
        for value in dict(held.items()).values() if isinstance(held, Dictionary) else ():
            if not isinstance(value, pikepdf.Object) or value.objgen in seen:
                continue
            if value.objgen != (0, 0):
                seen.add(value.objgen)
            if isinstance(value, pikepdf.Stream) and value.get("/Subtype") == Name.Image:
                yield value
            elif isinstance(value, Dictionary):
                for inner in _inner(pdf, value, resources):
                    yield from _images(pdf, inner, seen, depth + 1)


def _inner(pdf: pikepdf.Pdf, value: Any, outer: Any) -> Iterator[Any]:
    """The resources of what a form, a pattern, a soft mask or a font paints with, without images between operators."""
    mask = value.get("/SMask")
    streams = [value] if isinstance(value, pikepdf.Stream) else []
    streams += [mask["/G"]] if isinstance(mask, Dictionary) and isinstance(mask.get("/G"), pikepdf.Stream) else []
    for stream in streams:
        if "/Resources" not in stream:
            stream["/Resources"] = Dictionary(dict(outer.items()))
        _name_inline_images(pdf, stream, stream)
        yield stream["/Resources"]
    if isinstance(glyphs := value.get("/CharProcs"), Dictionary):
        if "/Resources" not in value:
            value["/Resources"] = Dictionary()
        for glyph in dict(glyphs.items()).values():
            if isinstance(glyph, pikepdf.Stream):
                _name_inline_images(pdf, glyph, value)
        yield value["/Resources"]


def _name_inline_images(pdf: pikepdf.Pdf, content: Any, holder: Any) -> None:
    """Make the images between the operators of a content images of its holder's resources."""
    streams = list(content) if isinstance(content, Array) else [content]
    parts = [each for each in streams if isinstance(each, pikepdf.Stream)]
    if not any(_INLINE.search(each.read_bytes()) for each in parts):
        return
    page = Dictionary(Type=Name.Page, Contents=content, Resources=holder.get("/Resources", Dictionary()))
    named = pikepdf.Page(pdf.make_indirect(page))
    named.externalize_inline_images(0, shallow=True)
    holder["/Resources"] = named.obj["/Resources"]
    written = named.obj["/Contents"]
    if isinstance(holder, pikepdf.Stream) or "/CharProcs" in holder:
        content.write(written.read_bytes())
    else:
        holder["/Contents"] = written
