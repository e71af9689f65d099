"""Cleans all of a PDF that is not its pages' content: nothing that is not known to be needed for showing it stays.

The rules:
- Catalog, name trees and pages keep the keys listed here. So metadata, attachments, scripts, form fields, the structure
  tree, thumbnails and private data are gone whatever they hold; annotations are part of the content by now.
- Outlines, layers' names and page labels stay, without what is to go.
- A PDF is written anew, so that no earlier revision of it stays behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from service.core.redaction import Repeats
from service.documents.redaction.content_stream import HIDDEN_TEXT_KEYS

REPLACEMENT = "[redacted]"
_CATALOG = frozenset(
    "/Type /Pages /Version /Extensions /PageLayout /PageMode /ViewerPreferences /Lang /PageLabels /OCProperties"
    " /OutputIntents /Outlines /Dests /Names".split()
)
_NAMES = frozenset(("/Dests",))
_PAGE = frozenset(
    "/Type /Parent /Resources /MediaBox /CropBox /BleedBox /TrimBox /ArtBox /Rotate /Contents /Group /UserUnit".split()
)
_EVERYWHERE = frozenset(
    (*HIDDEN_TEXT_KEYS, "/Metadata", "/PieceInfo", "/AF", "/StructParent", "/StructParents", "/OPI")
)
_OUTLINE_ITEM = frozenset("/Title /Parent /Prev /Next /First /Last /Count /Dest /A /C /F".split())
_BINARY = (Name.Image, Name("/Type1C"), Name("/CIDFontType0C"), Name("/OpenType"))
_DEEPEST = 60


def clean(pdf: pikepdf.Pdf, leaks: Repeats) -> list[str]:
    """Clean a file in place; `leaks` finds what must stand in none of its strings. Returns what was removed, by key."""
    pdf.remove_unreferenced_resources()
    removed = _keep_only(pdf.Root, _CATALOG)
    if "/Names" in pdf.Root:
        removed += _keep_only(pdf.Root["/Names"], _NAMES)
    if "/Info" in pdf.trailer:
        removed.append("/Info")
        del pdf.trailer["/Info"]
    for page in pdf.pages:
        removed += [key for key in _keep_only(page.obj, _PAGE) if key != "/Annots"]
    for item in _outline_items(pdf):
        _keep_only(item, _OUTLINE_ITEM)
        if str(item.get("/A", {}).get("/S", "/GoTo")) != "/GoTo":
            del item["/A"]
    for thing in pdf.objects:
        _scrub(thing, leaks, 0)
    return sorted({key.lstrip("/") for key in removed})


def own_resources(pdf: pikepdf.Pdf) -> None:
    """Give each page resources of its own, and take them from the nodes above it, so that none keeps what goes."""
    for page in pdf.pages:
        page.obj["/Resources"] = Dictionary(dict(page.resources.items()))
        for key in ("/MediaBox", "/CropBox", "/Rotate"):
            if (value := _inherited(page.obj, key)) is not None:
                page.obj[key] = value
    for page in pdf.pages:
        node, depth = page.obj.get("/Parent"), 0
        while node is not None and depth < _DEEPEST:
            if "/Resources" in node:
                del node["/Resources"]
            node, depth = node.get("/Parent"), depth + 1


def texts_of(thing: Any, depth: int = 0) -> Iterator[str]:
    """The strings of one object, and its stream as it is when unpacked; images and fonts are left out."""
    if isinstance(thing, String):
        yield str(thing)
    elif isinstance(thing, (Dictionary, pikepdf.Stream, Array)) and depth < _DEEPEST:
        for value in thing if isinstance(thing, Array) else (value for _, value in thing.items()):
            if isinstance(value, pikepdf.Object) and not value.is_indirect:
                yield from texts_of(value, depth + 1)
        if isinstance(thing, pikepdf.Stream) and not _is_binary(thing):
            try:
                yield thing.read_bytes().decode("latin-1")
            except pikepdf.PdfError:
                return


def _is_binary(stream: Any) -> bool:
    return stream.get("/Subtype") in _BINARY or any(key in stream for key in ("/Length1", "/N", "/FunctionType"))


def _inherited(node: Any, key: str) -> Any:
    for _ in range(_DEEPEST):
        if node is None:
            return None
        if key in node:
            return node[key]
        node = node.get("/Parent")
    return None


def _keep_only(dictionary: Any, kept: frozenset[str]) -> list[str]:
    gone = [key for key in list(dictionary.keys()) if key not in kept]
    for key in gone:
        del dictionary[key]
    return gone


def _outline_items(pdf: pikepdf.Pdf) -> Iterable[Any]:
    pending = [pdf.Root["/Outlines"].get("/First")] if "/Outlines" in pdf.Root else []
    seen: set[tuple[int, int]] = set()
    while pending:
        item = pending.pop()
        if item is None or not isinstance(item, Dictionary) or item.objgen in seen:
            continue
        seen.add(item.objgen)
        pending += [item.get("/First"), item.get("/Next")]
        yield item


def _scrub(thing: Any, leaks: Repeats, depth: int) -> None:
    """Remove from one object, and what stands directly in it, hidden text and strings that leak."""
    if depth > _DEEPEST:
        return
    if isinstance(thing, (Dictionary, pikepdf.Stream)):
        for key in list(thing.keys()):
            if key in _EVERYWHERE and str(thing.get("/Type", "")) != "/Font":
                del thing[key]
            else:
                _scrub_value(thing, key, thing[key], leaks, depth)
    elif isinstance(thing, Array):
        for index in range(len(thing)):
            _scrub_value(thing, index, thing[index], leaks, depth)


def _scrub_value(holder: Any, place: Any, value: Any, leaks: Repeats, depth: int) -> None:
    if isinstance(value, String):
        if leaks.are_in(str(value)):
            holder[place] = String(leaks.replaced(str(value), REPLACEMENT))
    elif isinstance(value, (Dictionary, Array)) and not value.is_indirect:
        _scrub(value, leaks, depth + 1)
