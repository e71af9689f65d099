"""Links of a PDF: read as values before annotations become part of the pages, and made anew where they tell nothing.

The rules:
- A link is where it is and where it leads: an address (URI) or a place of the same file. Links that run, send or open
  anything else go, and so does all else that a link may hold.
- A link goes if it lies over a place from which something goes, if its address says what must go, in whatever
  spelling, or if its page became a picture.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from service.core.redaction import Repeats
from service.documents.redaction.geometry import BoxGrid, Rectangle

LINKS = "Links"
"""Name of removed links in a report."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link on a page (numbers from 1): its box, its border's width, its address, or the page and view it leads to."""

    page: int
    box: Rectangle
    border: float
    address: str = ""
    target: int = 0
    view: tuple[Any, ...] = ()


def read_links(data: bytes) -> list[Link | None]:
    """The links of a file; None for one that leads nowhere, or to where none may lead."""
    try:
        with pikepdf.open(io.BytesIO(data)) as pdf:
            numbers = {page.obj.objgen: number for number, page in enumerate(pdf.pages, 1)}
            return [link for number, page in enumerate(pdf.pages, 1) for link in _links(page, number, numbers)]
    except pikepdf.PdfError:  # Too damaged for qpdf, though not for pdfium.
        return []


def add_links(pdf: pikepdf.Pdf, links: Iterable[Link], went: Mapping[int, Iterable[Rectangle]], leaks: Repeats) -> bool:
    """Make the links anew that may stay; `went`: by page the boxes that went. Returns whether all of them may."""
    grids = {number: BoxGrid(boxes) for number, boxes in went.items()}
    all_stay = True
    for link in links:
        covers = link.page in grids and grids[link.page].touches(link.box)
        if covers or link.page > len(pdf.pages) or link.target > len(pdf.pages) or leaks.are_named_in(link.address):
            all_stay = False
            continue
        page = pdf.pages[link.page - 1].obj
        if "/Annots" not in page:
            page["/Annots"] = Array([])
        page["/Annots"].append(pdf.make_indirect(_annotation(pdf, link)))
    return all_stay


def _links(page: pikepdf.Page, number: int, numbers: Mapping[tuple[int, int], int]) -> Iterator[Link | None]:
    annotations = page.obj.get("/Annots")
    for each in annotations if isinstance(annotations, Array) else ():
        if isinstance(each, Dictionary) and each.get("/Subtype") == Name.Link:
            try:
                yield _link(each, number, numbers)
            except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
                yield None


def _link(annotation: Any, page: int, numbers: Mapping[tuple[int, int], int]) -> Link | None:
    xs, ys = zip(*[(float(x), float(y)) for x, y in _pairs(annotation["/Rect"])], strict=True)
    box, border = (min(xs), min(ys), max(xs), max(ys)), _border(annotation)
    action = annotation.get("/A", Dictionary())
    target = annotation.get("/Dest", action.get("/D") if action.get("/S") == Name.GoTo else None)
    if not all(map(math.isfinite, (*box, border))):
        return None
    if action.get("/S") == Name.URI:
        return Link(page, box, border, address=str(action["/URI"]))
    if isinstance(target, Array) and len(target) and target[0].objgen in numbers:
        view = tuple(each if each is None else _plain(each) for each in list(target)[1:])
        return Link(page, box, border, target=numbers[target[0].objgen], view=view)
    return None


def _pairs(rectangle: Any) -> list[tuple[Any, Any]]:
    left, bottom, right, top = rectangle
    return [(left, bottom), (right, top)]


def _border(annotation: Any) -> float:
    """The width of the line around a link: 1 unless it says otherwise (ISO 32000-1, 12.5.2 and 12.5.4)."""
    if "/BS" in annotation:
        return float(annotation["/BS"].get("/W", 1))
    return float(list(annotation["/Border"])[2]) if "/Border" in annotation else 1.0


def _plain(value: Any) -> Any:
    """A number or a name of a view; raises TypeError for anything else."""
    if isinstance(value, Name):
        return str(value)
    return float(value)


def _annotation(pdf: pikepdf.Pdf, link: Link) -> Dictionary:
    made = Dictionary(
        Type=Name.Annot,
        Subtype=Name.Link,
        Rect=Array([round(each, 4) for each in link.box]),
        Border=Array([0, 0, round(link.border, 4)]),
    )
    if link.address:
        made["/A"] = Dictionary(S=Name.URI, URI=String(link.address))
    else:
        view = [Name(each) if isinstance(each, str) else each for each in link.view]
        made["/Dest"] = Array([pdf.pages[link.target - 1].obj, *view])
    return made
