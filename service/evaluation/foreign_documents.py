"""Foreign documents: values read from a tool's labelled records, with or without pages of words with boxes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in the unit of the page's width and height."""
Size = tuple[float, float]
"""Width and height of a page."""


class UnreadableFormat(ValueError):
    """A file's format is unknown, or broken; the sentence names the place."""


class ForeignSpan(NamedTuple):
    """An entity in the tool's own offsets; `text`: the entity's own text, if the tool writes it."""

    start: Any
    end: Any
    label: Any
    text: str | None = None


class PlacedWord(NamedTuple):
    """A word, and its box on its page."""

    text: str
    box: Box


class ForeignPage(NamedTuple):
    """A page's size, and its words in reading order."""

    size: Size
    words: tuple[PlacedWord, ...]


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """One document of a tool.

    Attributes:
        where: its line or number in the file.
        pages: their words have the same letters as the text; none for a text alone.
        others: members that only Gleaner's format has, such as `group`.
    """

    where: str
    text: str
    spans: tuple[ForeignSpan, ...]
    id: str | None = None
    pages: tuple[ForeignPage, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Facts that a file does not tell.

    Attributes:
        tag_names: names of numbered tags.
        column: of CoNLL's tags, from 1.
        unit: of offsets.
        page_size: size of the picture beside a file with one page.
        values: label → value, from the file of values beside a file of SROIE's boxes.
    """

    tag_names: tuple[str, ...] = ()
    column: int | None = None
    unit: str | None = None
    page_size: Size | None = None
    values: Mapping[str, str] = field(default_factory=dict)


WordSpan = tuple[int, int, int, str]
"""An entity of placed words: page from 0, first word, end (exclusive), label."""
UNSIZED = "pages of unknown size, which is taken to end at the farthest word: put the picture beside the file"
CUT = "boxes that reached beyond their page, and were cut"


def placed_words(text: str, box: Box) -> Iterator[PlacedWord]:
    """Yield the words of a text; each gets the part of the text's box where its characters are."""
    left, top, right, bottom = box
    step = (right - left) / max(1, len(text.strip()))
    place = 0
    for word in text.split():
        start = text.strip().index(word, place)
        place = start + len(word)
        yield PlacedWord(word, (left + step * start, top, left + step * place, bottom))


def around(points: Iterable[tuple[float, float]]) -> Box:
    """Compute the box around points."""
    across, down = zip(*points, strict=True)
    return min(across), min(down), max(across), max(down)


def paged_document(
    where: str,
    pages: Sequence[tuple[Sequence[PlacedWord], Size | None]],
    entities: Iterable[WordSpan],
    notes: Counter[str],
    id: str | None = None,
) -> ForeignDocument:
    """Make a document of the words of its pages; the size of a page may be unknown.

    Raises:
        UnreadableFormat: a box is not finite, or a page has no size.
    """
    placed = tuple(_page(where, words, size, notes) for words, size in pages)
    starts: list[list[int]] = []
    length = 0
    for page in placed:
        starts.append([])
        for word in page.words:
            starts[-1].append(length)
            length += len(word.text) + 1
    spans = tuple(
        ForeignSpan(starts[page][first], starts[page][end - 1] + len(placed[page].words[end - 1].text), label)
        for page, first, end, label in entities
    )
    text = " ".join(word.text for page in placed for word in page.words)
    return ForeignDocument(where, text, spans, id, placed)


def _page(where: str, words: Sequence[PlacedWord], size: Size | None, notes: Counter[str]) -> ForeignPage:
    for word in words:
        if not all(map(math.isfinite, word.box)):
            raise UnreadableFormat(f"{where}: the box of {word.text[:40]!r} is not finite")
    if size is None:
        notes[UNSIZED] += 1
        size = (max((w.box[2] for w in words), default=1.0), max((w.box[3] for w in words), default=1.0))
    if not (0 < size[0] < math.inf and 0 < size[1] < math.inf):
        raise UnreadableFormat(f"{where}: a page of {size[0]:g} by {size[1]:g} has no room for words")
    return ForeignPage(size, tuple(_within(word, size, notes) for word in words))


def _within(word: PlacedWord, size: Size, notes: Counter[str]) -> PlacedWord:
    """Sort a box's edges, and cut it at the page's."""
    (left, right), (top, bottom) = sorted(word.box[::2]), sorted(word.box[1::2])
    width, height = size
    cut = (_clamped(left, width), _clamped(top, height), _clamped(right, width), _clamped(bottom, height))
    if cut != (left, top, right, bottom):
        notes[CUT] += 1
    return word._replace(box=cut)


def _clamped(value: float, most: float) -> float:
    return min(max(value, 0), most)
