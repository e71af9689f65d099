"""Labelled documents from JSON lines: `{"id", "text", "entities": [{"start", "end", "label"}]}`, maybe `lang`, `group`.

Offsets are code points, ends exclusive. `group` is the unit that is left out as a whole (one company, one author); a
record without one is a group of its own. Every record is checked before training begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec

from service.engine.tools.training.errors import BadData, TooLittleData


class Marked(msgspec.Struct, frozen=True):
    """One entity: code points `[start, end)`."""

    start: int
    end: int
    label: str


class Record(msgspec.Struct, frozen=True):
    """One line of a file."""

    id: str | int
    text: str
    entities: tuple[Marked, ...]
    lang: str | None = None
    group: str | int | None = None


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A checked record; `entities` are in order and apart. `group` is unique over all files."""

    text: str
    entities: tuple[Marked, ...]
    group: str
    source: str


def read_documents(paths: Sequence[Path]) -> list[LabelledDocument]:
    """The documents of all files.

    Raises:
        BadData: a file cannot be read, or a record cannot be used; all problems at once.
        TooLittleData: no document has an entity.
    """
    documents: list[LabelledDocument] = []
    problems: list[str] = []
    for path in paths:
        for where, line in _lines(path, problems):
            try:
                documents.append(_document(line, str(path), where))
            except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
                problems.append(f"{where}: {error}")
    if problems:
        raise BadData(problems)
    if not any(document.entities for document in documents):
        raise TooLittleData("There is nothing to learn: no document has an entity.")
    return documents


def _lines(path: Path, problems: list[str]) -> Iterator[tuple[str, bytes]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
        return
    yield from ((f"{path}, line {number}", line) for number, line in enumerate(lines, start=1) if line.strip())


def _document(line: bytes, source: str, where: str) -> LabelledDocument:
    record = msgspec.json.decode(line, type=Record)
    entities = tuple(sorted(record.entities, key=lambda entity: entity.start))
    for entity in entities:
        if not 0 <= entity.start < entity.end <= len(record.text):
            raise ValueError(
                f"{entity.label} at {entity.start}:{entity.end} is not inside its text of {len(record.text)} characters"
            )
        if not record.text[entity.start : entity.end].strip():
            raise ValueError(f"{entity.label} at {entity.start}:{entity.end} holds white space alone")
        if not entity.label.strip():
            raise ValueError(f"the entity at {entity.start}:{entity.end} has no label")
    for first, second in pairwise(entities):
        if second.start < first.end:
            raise ValueError(
                f"{first.label} at {first.start}:{first.end} and {second.label} at {second.start}:{second.end} overlap"
            )
    group = where if record.group is None else f"{source}/{record.group}"
    return LabelledDocument(record.text, entities, group, source)
