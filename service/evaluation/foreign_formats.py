"""Foreign formats of labelled data: recognizes them by content, reads them, and converts offsets to code points.

Python, spaCy, Prodigy and today's Label Studio count code points; Doccano, as JavaScript does, counts UTF-16 units.
If a tool writes the entities' own texts, those decide.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from service.evaluation.foreign_documents import ForeignDocument, ForeignSpan, ReadOptions, UnreadableFormat
from service.evaluation.foreign_pages import looks_boxed, read_sroie
from service.evaluation.foreign_records import (
    READERS,
    SIGNS,
    TITLES,
    class_of,
    is_bare,
    is_classification,
    is_pair,
)
from service.evaluation.tagged_tokens import BadTokens, looks_tagged, read_conll

MOST_SAMPLED = 200
"""Most records that are searched for a sign of their tool."""
CODE_POINTS, UTF_16 = "codepoint", "utf16"


@dataclass(frozen=True, slots=True)
class ForeignData:
    """The documents of a file in code points.

    Attributes:
        notes: omissions and remarks, with their counts.
        doubts: possible misreadings, with their counts.
    """

    format: str
    documents: tuple[ForeignDocument, ...]
    notes: Counter[str] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)


Records = Sequence[tuple[str, Any]]
"""Pairs of place (line or number) and decoded JSON."""


def records_of(text: str) -> Records:
    """Read the records of JSON lines, or of one JSON value. Raises UnreadableFormat, which names the line."""
    try:
        whole = json.loads(text)
    except ValueError:
        return [(f"line {number}", _line(line, number)) for number, line in _filled_lines(text)]
    if isinstance(whole, dict) and isinstance(whole.get("annotations"), list) and "data" not in whole:
        whole = [each for each in whole["annotations"] if each is not None]  # tecoholic's ner-annotator, for spaCy
    is_one = not isinstance(whole, list) or is_pair(whole)
    return [(f"record {number}", each) for number, each in enumerate([whole] if is_one else whole, 1)]


def _filled_lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise UnreadableFormat(f"line {number}: {error}") from error


def format_of(text: str) -> str | None:
    """Recognize the format of a file's content; `gleaner` for our own, None for an unknown one."""
    text = text.removeprefix("\ufeff")
    return _format_of(text, _records(text)[0])


def _records(text: str) -> tuple[Records, UnreadableFormat | None]:
    """Read the records, or none and the reason."""
    try:
        return records_of(text), None
    except UnreadableFormat as error:
        return (), error


def _format_of(text: str, records: Records) -> str | None:
    if text.lstrip()[:1] not in ("{", "["):
        return "sroie" if looks_boxed(text) else "conll" if looks_tagged(text) else None
    found = (name for _, record in records[:MOST_SAMPLED] for name, is_of in SIGNS if is_of(record))
    return next(found, "doccano" if records and all(is_bare(each) for _, each in records) else None)


def read_foreign(text: str, name: str | None, options: ReadOptions) -> ForeignData:
    """Read the documents of a file's content, in code points; `name`: its format, None: found by the content.

    Raises:
        UnreadableFormat: the format is unknown or another, or the records classify whole texts.
    """
    text = text.removeprefix("\ufeff")
    records, problem = _records(text)
    _refuse_classes(records)
    name = name or _format_of(text, records)
    if name is None:
        raise UnreadableFormat(f"which is of no known format: --from says which: {', '.join(sorted(TITLES))}")
    try:
        if name == "conll":
            return _of_conll(text, options)
        if name == "sroie":
            notes: Counter[str] = Counter()
            return ForeignData(name, (read_sroie(text, options, notes),), notes)
        if problem is not None:
            raise problem
        return _of_records(records, name, options)
    except (BadTokens, UnreadableFormat) as error:
        raise UnreadableFormat(f"read as {TITLES[name]}: {error}") from error


def _of_conll(text: str, options: ReadOptions) -> ForeignData:
    notes: Counter[str] = Counter()
    found = tuple(
        ForeignDocument(f"line {each.line}", each.text, tuple(ForeignSpan(*span) for span in each.spans))
        for each in read_conll(text, notes, options.column)
    )
    return ForeignData("conll", found, notes)


def _of_records(records: Records, name: str, options: ReadOptions) -> ForeignData:
    notes: Counter[str] = Counter()
    doubts: Counter[str] = Counter()
    documents = [each for where, record in records for each in _read(name, record, where, options, notes)]
    if name != "huggingface" and not any(each.pages for each in documents):
        unit = options.unit or _unit(name, documents, doubts)
        documents = [_in_code_points(each, unit, doubts) for each in documents]
    return ForeignData(name, tuple(documents), notes, doubts)


def _refuse_classes(records: Records) -> None:
    """Raise UnreadableFormat if all records of a file classify whole texts, and none has an entity."""
    found = [(where, name) for where, record in records if (name := class_of(record)) is not None]
    if found and len(found) == len(records):
        raise is_classification(*found[0])


def _read(name: str, record: Any, where: str, options: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    try:
        yield from READERS[name](record, where, options, notes)
    except BadTokens as error:
        raise UnreadableFormat(f"{where}: {error}") from error
    except UnreadableFormat:
        raise
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise UnreadableFormat(f"{where}: this is no record of {TITLES[name]}: {error!r}") from error


def _unit(name: str, documents: Iterable[ForeignDocument], doubts: Counter[str]) -> str:
    """Find the unit of a file's offsets; adds a doubt if it matters and the file does not tell."""
    usual = UTF_16 if name == "doccano" else CODE_POINTS
    wide = [each for each in documents if each.text and max(each.text) > "\uffff" and each.spans]
    if not wide:
        return usual
    right = {unit: sum(_agreeing(each, unit) for each in wide) for unit in (CODE_POINTS, UTF_16)}
    if right[CODE_POINTS] != right[UTF_16]:
        return max(right, key=lambda unit: right[unit])
    other = CODE_POINTS if usual == UTF_16 else UTF_16
    doubts[f"documents with characters such as emoji, read as {usual} offsets: --offsets {other} reads the other"] += (
        len(wide)
    )
    return usual


def _agreeing(document: ForeignDocument, unit: str) -> int:
    """Count the entities whose own text stands at their offsets."""
    spans = _in_code_points(document, unit, Counter()).spans
    return sum(each.text is not None and document.text[each.start : each.end] == each.text for each in spans)


def _in_code_points(document: ForeignDocument, unit: str, doubts: Counter[str]) -> ForeignDocument:
    """Convert a document's offsets to code points; one within a surrogate pair becomes -1."""
    spans = document.spans
    if unit == UTF_16 and document.text and max(document.text) > "\uffff":
        lengths = (2 if character > "\uffff" else 1 for character in document.text)
        places = {units: number for number, units in enumerate(accumulate(lengths, initial=0))}
        spans = tuple(
            each._replace(start=places.get(each.start, -1), end=places.get(each.end, -1)) for each in document.spans
        )
    moved = replace(document, spans=spans)
    for each in spans:
        if each.text is not None and isinstance(each.start, int) and document.text[each.start : each.end] != each.text:
            doubts["entities whose own text is not the text at their offsets"] += 1
    return moved
