"""Schema of records: the kinds of records that a request asks for, and the fields of each.

    {"line item": ["description", {"name": "unit price", "kind": "money", "cardinality": "optional_one"}]}

The first field begins a record: there is one for each span that it finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.core.decoding.records import Cardinality, RecordKind
from service.core.labels.label_set import DEFAULT_LIMIT, Label, LabelSet, label_problem, read_label, refuse_twice

FIELD_KEYS = ("name", "description", "kind", "min_score", "cardinality")


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """One kind of records as it was asked for: its fields, and how many values each one has."""

    name: str
    fields: tuple[Label, ...]
    cardinalities: tuple[Cardinality, ...]


def read_schema(value: object) -> tuple[RecordSchema, ...] | None:
    """The kinds of records of an option: an object of names, each with the list of its fields.

    A field is a name, or an object with `name` and any of the other keys. White space in names is folded.

    Raises:
        ValueError: it is something else, or a name comes twice; the sentence says where.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ValueError("Input should be an object: names of records, each with the list of its fields")
    found = tuple(_kind(name, fields) for name, fields in value.items())
    refuse_twice(each.name for each in found)
    return found


def schema_problem(schema: Sequence[RecordSchema], most_fields: int) -> str | None:
    """Why a model that takes so many fields is not given this schema, as a sentence; None if it is."""
    if not schema:
        return "it names no records"
    for each in schema:
        if problem := label_problem([Label(each.name)]) or label_problem(each.fields):
            return f"{each.name[:50]!r}: {problem}"
    if (count := sum(len(each.fields) for each in schema)) > most_fields:
        return f"there are {count} fields; the model takes {most_fields} at a time"
    return None


def record_labels(schema: Sequence[RecordSchema], limit: float | None) -> LabelSet:
    """The labels of a request for records; `limit`: least score of a record, and of a value that may be absent."""
    limit = DEFAULT_LIMIT if limit is None else limit
    labels = tuple(field for each in schema for field in each.fields)
    limits = tuple(
        max(field.min_score or 0.0, 0.0 if cardinality.is_required else limit)
        for each in schema
        for field, cardinality in zip(each.fields, each.cardinalities, strict=True)
    )
    kinds: list[RecordKind] = []
    for each in schema:
        start = kinds[-1].fields.stop if kinds else 0
        numbers = range(start, start + len(each.fields))
        kinds.append(RecordKind(each.name, numbers, each.cardinalities, limit, limits[start : numbers.stop]))
    return LabelSet(labels, limits, records=tuple(kinds))


def _kind(name: object, fields: object) -> RecordSchema:
    label = read_label(name, None)
    if not isinstance(fields, Sequence) or isinstance(fields, str | bytes):
        raise ValueError(f"{label.name[:50]!r} should have a list of fields")
    read = [_field(label.name, each) for each in fields]
    refuse_twice(field.name for field, _ in read)
    return RecordSchema(label.name, tuple(field for field, _ in read), tuple(each for _, each in read))


def _field(record: str, value: object) -> tuple[Label, Cardinality]:
    if not isinstance(value, Mapping):
        return _single(record, value, {}), Cardinality.ZERO_OR_MORE
    if unknown := next((key for key in value if key not in FIELD_KEYS), None):
        raise ValueError(f"{record[:50]!r} has a field with an unknown key {str(unknown)[:50]!r}")
    given = value.get("cardinality", Cardinality.ZERO_OR_MORE)
    if given not in tuple(Cardinality):
        raise ValueError(f"the cardinality of a field of {record[:50]!r} should be one of {', '.join(Cardinality)}")
    wish = {key: each for key, each in value.items() if key not in ("name", "cardinality")}
    return _single(record, value.get("name"), wish), Cardinality(given)


def _single(record: str, name: object, wish: Mapping[object, object]) -> Label:
    if not isinstance(name, str):
        raise ValueError(f"each field of {record[:50]!r} should be a name, or an object with one")
    return read_label(name, wish)
