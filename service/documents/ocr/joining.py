"""Joins recognized pages and pictures into the document of a file, in the places of those that were not read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from service.documents.document import LEFT_OUT, UNREAD_PICTURES, Document, Layout, Page

_BETWEEN = "\n\n"
_LEAST_LETTERS, _LEAST_OF_PART = 3, 20
"""Letters and digits of a picture inside a file that is believed, and of one that is read in part."""
_BLANKS = re.compile(r"[ \t]+")


def with_recognized(document: Document, read: Mapping[int, Document]) -> Document:
    """The document with these pages in the place of its own.

    Args:
        document: of a file with pages and a layout.
        read: page number → a document of this page alone; one of which nothing was recognized changes nothing.
    """
    assert document.layout is not None, "only formats with pages are recognized"
    chosen = {number: each for number, each in read.items() if number not in each.unread_pages}
    texts, boxes, starts, confidence, pages = [], [], [], [], []
    at = 0
    for number, page in enumerate(document.pages or ()):
        if number:
            texts.append(_BETWEEN)
            boxes.append(np.full((len(_BETWEEN), 4), np.nan, np.float32))
            confidence.append(np.full(len(_BETWEEN), np.nan, np.float32))
            at += len(_BETWEEN)
        source, own = document, page
        if (alone := chosen.get(page.number)) is not None and alone.pages:
            source, own = alone, alone.pages[0]
        assert source.layout is not None, "a recognized page has boxes"
        texts.append(source.text[own.start : own.end])
        boxes.append(source.layout.boxes[own.start : own.end])
        first, last = np.searchsorted(source.layout.line_starts, (own.start, max(own.end, own.start + 1)))
        starts.append(source.layout.line_starts[first:last] - own.start + at)
        sure = source.layout.confidence
        length = own.end - own.start
        confidence.append(np.full(length, np.nan, np.float32) if sure is None else sure[own.start : own.end])
        pages.append(Page(page.number, at, at + length, page.width, page.height))
        at += length
    layout = Layout(np.concatenate(boxes), np.concatenate(starts).astype(np.int32), np.concatenate(confidence))
    return replace(
        document,
        text="".join(texts),
        pages=tuple(pages),
        layout=layout,
        unread_pages=tuple(number for number in document.unread_pages if number not in chosen),
        partly_read=(
            *(part for part in document.partly_read if part.page not in chosen or part.reason in LEFT_OUT),
            *(part for number in sorted(chosen) for part in chosen[number].partly_read),
        ),
        recognized=tuple(each for number in sorted(chosen) for each in chosen[number].recognized),
    )


def with_pictures(document: Document, read: Mapping[int, Document]) -> Document:
    """The document with the text of its pictures, each on lines of its own.

    Args:
        document: of a format without pages.
        read: number of a picture → a document of it alone; one that shows no writing changes nothing, and one of which
            a few letters were read, as of a seal, is named.
    """
    chosen = {number: each for number, each in read.items() if _is_legible(number, each)}
    texts: list[str] = []
    confidence: list[npt.NDArray[np.float32]] = []

    def add(text: str, sure: npt.NDArray[np.float32] | None = None) -> None:
        if text:
            texts.append(text)
            confidence.append(np.full(len(text), np.nan, np.float32) if sure is None else sure)

    at = 0
    for place, number in document.pictures:
        alone = chosen.get(number)
        add(document.text[at:place].rstrip("" if alone is None else " \t"))
        at = max(at, place)
        if alone is None or alone.layout is None:
            continue
        if texts and not texts[-1].endswith("\n"):
            add("\n")
        add(alone.text, alone.layout.confidence)
        after = _BLANKS.match(document.text, at)
        at = at if after is None else after.end()
        if at < len(document.text) and document.text[at] != "\n":
            add("\n")
    add(document.text[at:])
    numbers = {number for _, number in document.pictures}
    is_partly_read = any(
        number not in read or read[number].partly_read or (number not in chosen and read[number].text.strip())
        for number in numbers
    )
    parts = (part for part in document.partly_read if part != UNREAD_PICTURES or not is_partly_read)
    text = "".join(texts)
    boxes = np.broadcast_to(np.float32(np.nan), (len(text), 4))
    layout = Layout(boxes, np.zeros(0, np.int32), np.concatenate(confidence)) if chosen else None
    return replace(
        document,
        text=text,
        layout=layout,
        partly_read=(*parts, *[UNREAD_PICTURES] * is_partly_read),
        recognized=tuple(replace(each, page=None) for number in sorted(chosen) for each in chosen[number].recognized),
        pictures=(),
    )


def _is_legible(number: int, picture: Document) -> bool:
    letters = sum(map(str.isalnum, picture.text))
    return number not in picture.unread_pages and letters >= (_LEAST_OF_PART if picture.partly_read else _LEAST_LETTERS)
