"""Sample pages put a plain text on pages, for checks of a model that reads nothing without pages."""

from __future__ import annotations

import re

import numpy as np

from service.documents.document import Document, Page, PlacedWords

WIDTH, HEIGHT = 595.0, 842.0
MARGIN, LINE, SIZE, LETTER = 50.0, 14.0, 10.0, 5.0
"""Points: around the page, from line to line, height of a word, width of a letter."""
_PART = re.compile(r"\n|\S+")


def sample_page(text: str) -> Document:
    """Lay a text's words in lines from the page's upper left corner, on as many pages as they fill."""
    ranges, boxes, starts = [], [], [0]
    left, top = MARGIN, MARGIN
    for match in _PART.finditer(text):
        width = LETTER * len(match.group())
        if match.group() == "\n" or (left > MARGIN and left + width > WIDTH - MARGIN):
            left, top = MARGIN, top + LINE
        if match.group() == "\n":
            continue
        if top + SIZE > HEIGHT - MARGIN:
            top = MARGIN
            starts.append(match.start())
        ranges.append(match.span())
        boxes.append((left, top, min(left + width, WIDTH), top + SIZE))
        left += width + LETTER
    ends = [*starts[1:], len(text)]
    pages = (Page(number, *span, WIDTH, HEIGHT) for number, span in enumerate(zip(starts, ends, strict=True), start=1))
    words = PlacedWords(np.array(ranges, dtype=np.int32).reshape(-1, 2), np.array(boxes).reshape(-1, 4))
    return Document(text, tuple(pages), words=words)
