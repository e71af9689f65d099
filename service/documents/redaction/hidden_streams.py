"""Content that a page paints without `Do`: tiling patterns, soft masks, and glyph procedures of Type 3 fonts.

No reader's text has what they say, so each that shows text is read as a page of its own. It is emptied if it says what
must go, in any spelling, or if its glyphs cannot be told; so it shows in no picture of the page either.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pikepdf
import pypdfium2.raw as pdfium
from pikepdf import Array, Dictionary, Name

from service.core.redaction import Repeats
from service.documents.pdf.glyphs import REPLACEMENT
from service.documents.pdf.reader import loaded_page, opened_pdf, opened_text
from service.documents.redaction.shown_text import read_page_string
from service.documents.redaction.stream_writing import SHOWING

_DEEPEST = 12
_SIDE = 14_000


def empty_hidden_streams(pdf: pikepdf.Pdf, leaks: Repeats) -> list[str]:
    """Empty such streams in place; returns what kinds of them were emptied."""
    emptied = []
    for kind, stream, resources in list(_hidden(pdf)):
        if _shows_text(stream, resources, 0) and _is_to_go(pdf, stream, resources, leaks):
            stream.write(b"0 0 d0" if kind == "CharProcs" else b"")
            if "/Resources" in stream:
                stream.Resources = Dictionary()  # Its forms would stay in the file.
            emptied.append(kind)
    return emptied


def _hidden(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, Any]]:
    """Kind, stream and resources of each, wherever in the file it stands."""
    page_of: dict[tuple[int, int], Any] = {}
    for page in pdf.pages:
        for each in page.resources.get("/Pattern", Dictionary()).as_dict().values():
            page_of.setdefault(each.objgen, page.resources)
    for thing in pdf.objects:
        if isinstance(thing, pikepdf.Stream) and thing.get("/PatternType") == 1:
            yield "Pattern", thing, thing.get("/Resources", page_of.get(thing.objgen, Dictionary()))
        for each in _dictionaries(thing, 0):
            if isinstance(group := each.get("/G"), pikepdf.Stream) and each.get("/S") in _MASKS:
                yield "SMask", group, group.get("/Resources", Dictionary())
            if isinstance(procedures := each.get("/CharProcs"), Dictionary):
                for procedure in procedures.as_dict().values():
                    if isinstance(procedure, pikepdf.Stream):
                        yield "CharProcs", procedure, each.get("/Resources", Dictionary())


_MASKS = (Name.Luminosity, Name.Alpha)


def _dictionaries(thing: Any, depth: int) -> Iterator[Any]:
    """The dictionaries that stand directly in an object."""
    if depth > _DEEPEST:
        return
    if isinstance(thing, (Dictionary, pikepdf.Stream)):
        yield thing
        values = list(dict(thing.items()).values())
    else:
        values = list(thing) if isinstance(thing, Array) else []
    for value in values:
        if isinstance(value, pikepdf.Object) and not value.is_indirect:
            yield from _dictionaries(value, depth + 1)


def _shows_text(stream: Any, resources: Any, depth: int) -> bool:
    if depth > _DEEPEST:
        return True
    try:
        if any(str(each.operator) in SHOWING for each in pikepdf.parse_content_stream(stream)):
            return True
    except pikepdf.PdfError:
        return True
    forms = [
        each for each in resources.get("/XObject", Dictionary()).as_dict().values() if each.get("/Subtype") == Name.Form
    ]
    return any(_shows_text(form, form.get("/Resources", resources), depth + 1) for form in forms)


def _is_to_go(pdf: pikepdf.Pdf, stream: Any, resources: Any, leaks: Repeats) -> bool:
    """True if what a stream shows as a page of its own says what must go, or cannot be read."""
    with pikepdf.new() as alone:
        own = alone.copy_foreign(pdf.make_indirect(Dictionary(dict(resources.items()))))
        box = Array([-_SIDE, -_SIDE, _SIDE, _SIDE])
        content = pikepdf.Stream(alone, stream.read_bytes())
        alone.pages.append(pikepdf.Page(Dictionary(Type=Name.Page, MediaBox=box, Resources=own, Contents=content)))
        written = io.BytesIO()
        alone.save(written)
    with opened_pdf(written.getvalue()) as document:
        with loaded_page(document, 1) as page, opened_text(page, 1) as text_page:
            count = int(pdfium.FPDFText_CountChars(text_page))
            unreadable = any(pdfium.FPDFText_HasUnicodeMapError(text_page, i) == 1 for i in range(count))
        text = read_page_string(document, 1)
    return unreadable or not text.strip() or chr(REPLACEMENT) in text or leaks.are_named_in(text)
