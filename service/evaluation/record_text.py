"""Text of a labelled record: its own, or the text that the service makes of its pages, and the places of its entities.

A record may have both, with the same letters; white space may differ. Its entities are then moved from its own text to
that of its pages.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from service.core.errors import GleanerError
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import read_placed_pages

LIMITS = DocumentLimits(max_pages=5_000)


class BadText(ValueError):
    """A record's text, pages or entities cannot be read; the sentence says why."""


def read_pages(pages: Any) -> Document:
    """Read the decoded JSON of `pages`. Raises BadText."""
    try:
        return read_placed_pages(msgspec.Raw(msgspec.json.encode(pages)), LIMITS)
    except GleanerError as error:
        raise BadText(error.detail.removesuffix(".")) from error


def pages_json(document: Document) -> bytes:
    """Write a document's words as the JSON of `pages`, from which `read_pages` makes it again."""
    assert document.words is not None, "only a document of words is written"
    ranges, boxes = document.words.ranges.tolist(), document.words.boxes.tolist()
    words = [{"text": document.text[slice(*place)], "box": box} for place, box in zip(ranges, boxes, strict=True)]
    starts = [start for start, _ in ranges]
    pages = []
    for number, page in enumerate(document.pages or ()):
        first, last = np.searchsorted(starts, (page.start, page.end)).tolist()
        image = {"image": document.page_images[number] or None} if document.page_images else {}
        pages.append({"width": page.width, "height": page.height, "words": words[first:last], **image})
    return msgspec.json.encode(pages)


class RecordText:
    """The text of a record, its document if it has pages, and the spans of its entities in that text.

    Args:
        given: the record's own text; None if it has only pages.
        pages: the decoded JSON of its pages; None if it has only a text.

    Raises:
        BadText: both are missing, or their letters differ.
    """

    def __init__(self, given: Any, pages: Any) -> None:
        self.placed = None if pages is None else read_pages(pages)
        self._given = self.placed.text if given is None and self.placed is not None else given
        if not isinstance(self._given, str):
            raise BadText("`text` must be a string")
        self.text: str = self._given if self.placed is None else self.placed.text
        self._is_moved = self.text != self._given
        if not self._is_moved:
            return
        if "".join(self._given.split()) != "".join(self.text.split()):
            raise BadText("the words of `pages` are not those of `text`")
        self._before: npt.NDArray[np.intp] = np.cumsum([0, *(not each.isspace() for each in self._given)])
        self._places = [place for place, each in enumerate(self.text) if not each.isspace()]

    def span(self, entity: Any) -> tuple[int, int, str]:
        """Find start, end and label of an entity, given by its place in the text, or by words of a page.

        Raises:
            BadText: a member is missing, or not within the text.
        """
        try:
            label = entity["label"]
            if self.placed is not None and "words" in entity:
                start, end = words_place(self.placed, entity.get("page"), entity["words"])
            else:
                start, end = self._moved(entity["start"], entity["end"], label)
        except (AttributeError, KeyError, TypeError) as error:
            raise BadText("an entity needs `start`, `end` and `label`") from error
        if problem := span_problem(start, end, label, len(self.text)):
            raise BadText(problem)
        return start, end, label

    def _moved(self, start: Any, end: Any, label: Any) -> tuple[Any, Any]:
        """Move an entity of the own text to that of the pages."""
        if not self._is_moved:
            return start, end
        if problem := span_problem(start, end, label, len(self._given)):
            raise BadText(problem)
        first, last = int(self._before[start]), int(self._before[end]) - 1
        if last < first:
            raise BadText(f"{label} at {start}:{end} holds white space alone")
        return self._places[first], self._places[last] + 1


def words_place(document: Document, page_number: Any, words: Any) -> tuple[int, int]:
    """Find the place in the text of words `[first, end)` of a page, which counts from 1. Raises BadText."""
    pages, placed = document.pages or (), document.words
    assert placed is not None, "pages are of words"
    numbers = [page_number, *(words if isinstance(words, list) else ())]
    if len(numbers) != 3 or any(type(each) is not int for each in numbers):
        raise BadText("an entity's `page` must be a number, and its `words` two numbers, [first, end)")
    if not 1 <= page_number <= len(pages):
        raise BadText(f"an entity is on page {page_number}; there are {len(pages)}")
    page, (first, end) = pages[page_number - 1], words
    before, after = np.searchsorted(placed.ranges[:, 0], (page.start, page.end)).tolist()
    if not 0 <= first < end <= after - before:
        raise BadText(f"page {page_number} has {after - before} words, and an entity is {first}:{end} of them")
    return int(placed.ranges[before + first, 0]), int(placed.ranges[before + end - 1, 1])


def span_problem(start: Any, end: Any, label: Any, characters: int) -> str | None:
    """Describe the fault of an entity in a text of this length; None without a fault."""
    if not isinstance(label, str) or not label.strip():
        return f"an entity at {start}:{end} has no label"
    if type(start) is not int or type(end) is not int:
        return f"`start` and `end` of {label[:40]} at {start}:{end} must be whole numbers"
    if not 0 <= start <= end <= characters:
        return f"{label[:40]} at {start}:{end} is not within the text"
    return f"{label[:40]} at {start}:{end} is empty" if start == end else None
