"""Labelled documents, read from JSON lines: one set a file, one document a line.

    {"id": "a", "text": "…", "entities": [{"start": 0, "end": 4, "label": "PERSON"}], "group": "…", "lang": "en",
     "kind": "invoice", "fields": {"total_amount": ["12.00"]}}

Only `text` and `entities` must be there. `group`: what must stay together when documents are drawn or split, such as
those of one company; a document without one is a group of its own. A mapping leads from a set's own labels to those of
the model; null stands for a label that the model is not asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from service.core.errors import RequestError

LabelMap = Mapping[str, str | None]
"""A set's own label → the model's."""
MAPPING_FILE = "MAPPING.json"


class BadRecords(RequestError):
    """A file does not hold labelled documents."""

    code = "bad_records"
    title = "The labelled documents cannot be read"


class LabelledSpan(NamedTuple):
    """An entity at the code points `[start, end)`. `score`: of a prediction; 1 in the truth."""

    start: int
    end: int
    label: str
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """One document with what should be found in it; `fields`: role → the values that are right for it."""

    id: str
    text: str
    spans: tuple[LabelledSpan, ...]
    group: str
    language: str
    kind: str
    fields: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """The documents of one file, and the labels that they are annotated with: no other counts."""

    name: str
    documents: tuple[GoldDocument, ...]
    labels: frozenset[str]

    @property
    def groups(self) -> int:
        """Groups of documents."""
        return len({document.group for document in self.documents})

    def only(self, documents: Iterable[GoldDocument]) -> EvaluationSet:
        """The same set with these of its documents."""
        return replace(self, documents=tuple(documents))


@dataclass(frozen=True, slots=True)
class LabelScheme:
    """Mappings by set, and the general label of each that has one."""

    maps: Mapping[str, LabelMap]
    parents: Mapping[str, str]

    def coarse(self, label: str) -> str:
        """The general label, or the label itself where it has none."""
        return self.parents.get(label, label)


NO_SCHEME = LabelScheme({}, {})


def read_scheme(path: Path) -> LabelScheme:
    """The mappings of a file `{"map": {set: {label: label or null}}, "coarse_parent": {label: label}}`.

    Raises:
        BadRecords: it is no such file.
    """
    content = _json(path.name, _text(path))
    try:
        return LabelScheme({name: dict(labels) for name, labels in content["map"].items()}, content["coarse_parent"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadRecords(f"{path} is no mapping of labels: `map` and `coarse_parent` must be objects.") from error


def scheme_beside(paths: Iterable[Path]) -> LabelScheme:
    """The first MAPPING.json in a file's folder or the one above; an empty scheme where there is none.

    Raises:
        BadRecords: it is no mapping.
    """
    for path in paths:
        for folder in (path, *path.resolve().parents[:2]):
            if (folder / MAPPING_FILE).is_file():
                return read_scheme(folder / MAPPING_FILE)
    return NO_SCHEME


def read_sets(paths: Iterable[Path], scheme: LabelScheme = NO_SCHEME) -> list[EvaluationSet]:
    """The sets of these files, and of the `*.jsonl` files of these folders.

    Raises:
        BadRecords: a path holds none, or a line is not as above; names file and line.
    """
    return [read_set(path, scheme.maps.get(path.stem)) for path in _files(paths)]


def read_set(path: Path, label_map: LabelMap | None = None) -> EvaluationSet:
    """The set of one file; without a map its labels are the model's.

    Raises:
        BadRecords: it cannot be read, holds no document, or a line is not as above.
    """
    documents: list[GoldDocument] = []
    labels = {label for label in label_map.values() if label} if label_map is not None else set()
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            where = f"{path.name}, line {number}"
            documents.append(_document(where, _json(where, line), path.stem, label_map))
            labels |= {span.label for span in documents[-1].spans}
    if not documents:
        raise BadRecords(f"{path} holds no document.")
    return EvaluationSet(path.stem, tuple(documents), frozenset(labels))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        found = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not found:
            raise BadRecords(f"{path} holds no .jsonl file.")
        yield from found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecords(f"{path} cannot be read: {error}.") from error


def _json(where: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadRecords(f"{where}: {error}.") from error
    if not isinstance(found, dict):
        raise BadRecords(f"{where}: a JSON object is wanted.")
    return found


def _document(where: str, record: dict[str, Any], name: str, label_map: LabelMap | None) -> GoldDocument:
    text, entities, fields = record.get("text"), record.get("entities"), record.get("fields") or {}
    if not isinstance(text, str) or not isinstance(entities, list) or not isinstance(fields, dict):
        raise BadRecords(f"{where}: `text` must be a string, `entities` a list and `fields` an object.")
    spans = (_span(where, entity, len(text), label_map) for entity in entities)
    return GoldDocument(
        id=str(record.get("id", where)),
        text=text,
        spans=tuple(sorted(span for span in spans if span is not None)),
        group=str(record.get("group", record.get("id", where))),
        language=str(record.get("lang", "unknown")),
        kind=str(record.get("kind") or name.partition("_")[0]),
        fields=_truth(fields, label_map),
    )


def _span(where: str, entity: Any, characters: int, label_map: LabelMap | None) -> LabelledSpan | None:
    try:
        start, end, label = entity["start"], entity["end"], entity["label"]
        inside = 0 <= start < end <= characters
    except (KeyError, TypeError) as error:
        raise BadRecords(f"{where}: an entity needs `start`, `end` and `label`.") from error
    if not inside or type(start) is not int or type(end) is not int or not isinstance(label, str):
        raise BadRecords(f"{where}: the entity {str(label)[:40]!r} [{start}, {end}) is not within the text.")
    if label_map is None:
        return LabelledSpan(start, end, label)
    if label not in label_map:
        raise BadRecords(f"{where}: the label {label[:40]!r} is not in the mapping of this set.")
    mapped = label_map[label]
    return LabelledSpan(start, end, mapped) if mapped else None


def _truth(fields: dict[str, Any], label_map: LabelMap | None) -> dict[str, tuple[str, ...]]:
    """Role → right values. A role is a label in lower case; a set's own name of one is mapped as its label is."""
    truth: dict[str, tuple[str, ...]] = {}
    for name, values in fields.items():
        role = ((label_map or {}).get(name) or name).lower()
        listed = values if isinstance(values, list) else [values]
        truth[role] = (*truth.get(role, ()), *(str(value) for value in listed if value not in (None, "")))
    return {role: values for role, values in truth.items() if values}
