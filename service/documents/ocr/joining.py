"""Joins recognized pages into the document of a file, in the places of the pages that were not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from service.documents.document import Document, Layout, Page

_BETWEEN = "\n\n"


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
            *(part for part in document.partly_read if part.page not in chosen),
            *(part for number in sorted(chosen) for part in chosen[number].partly_read),
        ),
        recognized=tuple(each for number in sorted(chosen) for each in chosen[number].recognized),
    )
