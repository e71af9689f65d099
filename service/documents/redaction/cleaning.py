"""Cleans all of a PDF that is not its pages' content: nothing that is not known to be needed for showing it stays.

The rules:
- Catalog, name trees, pages and forms keep the keys listed here. So metadata, attachments, scripts, form fields, the
  structure tree, thumbnails and private data are gone whatever they hold; annotations are part of the content by now.
- Outlines, layers' names and page labels stay, without what is to go in any spelling. Of an outline's action its place
  stays alone, without scripts and whatever else may be chained to it.
- Names of fonts and colours that say what is to go are replaced; what images hold is `bare_images`' part.
- A PDF is written anew, so that no earlier revision of it stays behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from service.core.redaction import Repeats
from service.documents.pdf.as_shown import inherited
from service.documents.redaction.content_stream import HIDDEN_TEXT_KEYS
from service.documents.redaction.names import FONT_PROGRAMS, containers, neutral_names

REPLACEMENT = "[redacted]"
_CATALOG = frozenset(
    "/Type /Pages /Version /PageLayout /PageMode /Lang /PageLabels /OCProperties /Outlines /Dests /Names".split()
)
_NAMES = frozenset(("/Dests",))
_PAGE = frozenset(
    "/Type /Parent /Resources /MediaBox /CropBox /BleedBox /TrimBox /ArtBox /Rotate /Contents /Group /UserUnit".split()
)
_EVERYWHERE = frozenset(
    (*HIDDEN_TEXT_KEYS, "/Metadata", "/PieceInfo", "/AF", "/StructParent", "/StructParents", "/OPI")
)
_OUTLINE_ITEM = frozenset("/Title /Parent /Prev /Next /First /Last /Count /Dest /A /C /F".split())
_FORM = frozenset("/Type /Subtype /FormType /BBox /Matrix /Resources /Group /OC /Length /Filter /DecodeParms".split())
_BLANK = re.compile(r"[\s<>\[\]()]")
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
        if isinstance(place := item.get("/Dest"), Name) and leaks.are_named_in(str(place)):
            del item["/Dest"]
        if (action := item.get("/A")) is not None:
            del item["/A"]
            if action.get("/S") == Name.GoTo and isinstance(action.get("/D"), (Array, String)):
                item["/A"] = Dictionary(S=Name.GoTo, D=action["/D"])
    if isinstance(named := pdf.Root.get("/Dests"), Dictionary):
        for key in [key for key, _ in named.items() if leaks.are_named_in(key)]:
            del named[key]
    neutral_names(pdf, leaks)
    for thing in pdf.objects:
        for each in containers(thing, 0):
            _scrub(each, leaks)
        if isinstance(thing, pikepdf.Stream) and thing.get("/Subtype") == Name.Form:
            _keep_only(thing, _FORM)
    return sorted({key.lstrip("/") for key in removed})


def own_resources(pdf: pikepdf.Pdf) -> None:
    """Give each page resources of its own, and take them from the nodes above it, so that none keeps what goes."""
    for page in pdf.pages:
        page.obj["/Resources"] = Dictionary(dict(page.resources.items()))
        for key in ("/MediaBox", "/CropBox", "/Rotate"):
            if (value := inherited(page.obj, key, _DEEPEST)) is not None:
                page.obj[key] = value
    for page in pdf.pages:
        node, depth = page.obj.get("/Parent"), 0
        while node is not None and depth < _DEEPEST:
            if "/Resources" in node:
                del node["/Resources"]
            node, depth = node.get("/Parent"), depth + 1


def leaks_in_objects(pdf: pikepdf.Pdf, leaks: Repeats) -> bool:
    """True if a string or an unpacked stream that a reader may come to holds what must be gone."""
    programs = {thing[key].objgen for thing in pdf.objects if isinstance(thing, Dictionary) for key in FONT_PROGRAMS
                if isinstance(thing.get(key), pikepdf.Stream)}  # fmt: skip
    pending, seen = [pdf.trailer], set[tuple[int, int]]()
    while pending:
        thing = pending.pop()
        if isinstance(thing, pikepdf.Object) and thing.is_indirect:
            if thing.objgen in seen:
                continue
            seen.add(thing.objgen)
        if isinstance(thing, String) and leaks.are_named_in(str(thing)):
            return True
        if isinstance(thing, (Dictionary, pikepdf.Stream)):
            pending += [value for _, value in thing.items()]
        elif isinstance(thing, Array):
            pending += list(thing)
        is_text = isinstance(thing, pikepdf.Stream) and thing.get("/Subtype") != Name.Image
        if is_text and thing.objgen not in programs and stands_in(_unpacked(thing), leaks):
            return True
    return False


def _unpacked(stream: Any) -> bytes:
    try:
        return bytes(stream.read_bytes())
    except pikepdf.PdfError:
        return bytes(stream.read_raw_bytes())


def stands_in(data: bytes, leaks: Repeats) -> bool:
    """True if a stream says what must be gone as it is. Numbers beside each other are operands, not one number."""
    text = data.decode("latin-1")
    return any(
        any(map(str.isalpha, text[a:b])) or not _BLANK.search(text, a, b) for a, b in leaks.find(text, as_written=True)
    )


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


def _scrub(holder: Any, leaks: Repeats) -> None:
    """Remove hidden text and strings that leak from one dictionary or array."""
    if not isinstance(holder, Array) and str(holder.get("/Type", "")) != "/Font":
        for key in _EVERYWHERE & holder.keys():
            del holder[key]
    for place in range(len(holder)) if isinstance(holder, Array) else list(holder.keys()):
        if isinstance(value := holder[place], String) and leaks.are_named_in(str(value)):
            replaced = leaks.replaced(str(value), REPLACEMENT)
            holder[place] = String(REPLACEMENT if leaks.are_named_in(replaced) else replaced)
