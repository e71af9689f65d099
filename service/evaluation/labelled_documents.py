"""Labelled documents: reads them from JSON lines, one set a file, one document a line.

    {"id": "a", "text": "…", "entities": [{"start": 0, "end": 4, "label": "PERSON"}], "group": "…", "lang": "en",
     "kind": "invoice", "fields": {"total_amount": ["12.00"]}}

Only `text` and `entities` are required. `pages` of words with their boxes may stand beside the text or in place of it;
entities may then be given by `page` and `words` (`record_text`). Offsets are code points, ends exclusive. Documents of
one `group` (a company, an author) stay together when a set is drawn from or split; a document without one is a group of
its own, and documents of one text are in one group, so that no text is both learned and scored. A mapping translates a
set's own labels to those of the model; null stands for a label that the model lacks.

`gleaner train`, `gleaner evaluate` and the training of the built-in model read the same files through this module.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from service.core.errors import RequestError
from service.documents.document import Document
from service.evaluation.foreign_formats import format_of
from service.evaluation.foreign_records import TITLES
from service.evaluation.record_text import BadText, RecordText

LabelMap = Mapping[str, str | None]
"""A set's own label → the model's."""
MAPPING_FILE = "MAPPING.json"
SPACY_TO_JSON = (
    """python -c 'import json, sys, spacy; from spacy.tokens import DocBin; """
    """[print(json.dumps(d.to_json())) for d in DocBin().from_disk(sys.argv[1]).get_docs(spacy.blank("xx").vocab)]'"""
)
BINARY_FORMATS = {
    b"x\x9c": f"it is compressed. If it is spaCy's DocBin, this writes JSON that `gleaner data convert` reads, where "
    f"spaCy is installed: {SPACY_TO_JSON} IN.spacy > OUT.jsonl",
    b"PAR1": "it is Parquet; `datasets.load_dataset(…).to_json(…)` writes JSON that `gleaner data convert` reads.",
}
"""First bytes of files → their format, and the way to a file that can be converted."""

MOST_PROBLEMS_SHOWN = 10
"""Most problems that an error names; it counts the others."""
LARGEST_PERCENT = 35
"""Percent of a set's text; a group that holds more is never left out of training."""


class BadRecords(RequestError):
    """Files do not hold labelled documents. `problems`: file, line and reason of each."""

    code = "bad_records"
    title = "The labelled documents cannot be read"

    def __init__(self, problems: list[str]) -> None:
        shown, more = problems[:MOST_PROBLEMS_SHOWN], len(problems) - MOST_PROBLEMS_SHOWN
        super().__init__("\n".join([*shown, *([f"… and {more} more"] if more > 0 else [])]))
        self.problems = problems


class LabelledSpan(NamedTuple):
    """An entity at the code points `[start, end)`. `score`: a prediction's; 1 in the truth."""

    start: int
    end: int
    label: str
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """One document and its entities, by position.

    Attributes:
        fields: role → its right values; none: the document states none.
        file: a file to be read instead of a text (`document_files`).
        placed: the text with its pages and words, where these have boxes.
        unmapped: code points `[start, end)` of entities whose label the mapping omits.
    """

    id: str
    text: str
    spans: tuple[LabelledSpan, ...]
    group: str
    language: str = "unknown"
    kind: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unmapped: tuple[tuple[int, int], ...] = ()
    file: Path | None = None
    placed: Document | None = field(default=None, compare=False)

    @property
    def document(self) -> Document:
        """The document that a model is given."""
        return self.placed or Document(self.text)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The documents of one file, and the labels that they are annotated with; no others count."""

    name: str
    documents: tuple[LabelledDocument, ...]
    labels: frozenset[str]

    @property
    def groups(self) -> int:
        return len({document.group for document in self.documents})

    def only(self, documents: Iterable[LabelledDocument]) -> LabelledSet:
        return replace(self, documents=tuple(documents))


@dataclass(frozen=True, slots=True)
class LabelScheme:
    """Mappings by set, and label → general label."""

    maps: Mapping[str, LabelMap]
    parents: Mapping[str, str]

    def coarse(self, label: str) -> str:
        """Look up a label's general one; without one, the label itself."""
        return self.parents.get(label, label)


NO_SCHEME = LabelScheme({}, {})


def read_scheme(path: Path) -> LabelScheme:
    """Read a file `{"map": {set: {label: label or null}}, "coarse_parent": {label: label}}`.

    Raises:
        BadRecords: the file is not of this form.
    """
    content = json_object(path.name, text_of_file(path))
    try:
        return LabelScheme({name: dict(labels) for name, labels in content["map"].items()}, content["coarse_parent"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadRecords([f"{path} is no mapping of labels: `map` and `coarse_parent` must be objects."]) from error


def nearest_scheme(paths: Iterable[Path]) -> LabelScheme:
    """Read the first MAPPING.json in a file's folder or the one above; without one, an empty scheme.

    Raises:
        BadRecords: the file is no mapping.
    """
    for path in paths:
        for folder in (path, *path.resolve().parents[:2]):
            if (folder / MAPPING_FILE).is_file():
                return read_scheme(folder / MAPPING_FILE)
    return NO_SCHEME


def read_sets(paths: Iterable[Path], scheme: LabelScheme = NO_SCHEME) -> list[LabelledSet]:
    """Read the sets of files, and of the `*.jsonl` files of folders.

    Raises:
        BadRecords: a path holds no set, or a line is not as above; names all problems of all files.
    """
    problems: list[str] = []
    sets = [_read(path, scheme.maps.get(path.stem), problems) for path in _files(paths, problems)]
    if problems:
        raise BadRecords(problems)
    return sets


def _read(path: Path, label_map: LabelMap | None, problems: list[str]) -> LabelledSet:
    """Read a file's documents; problems of unreadable ones are added to `problems`."""
    documents: list[LabelledDocument] = []
    labels = {label for label in label_map.values() if label} if label_map is not None else set()
    before = len(problems)
    try:
        text = text_of_file(path)
        lines = text.split("\n")
    except BadRecords as error:
        problems += error.problems
        text, lines = "", []
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f"{path.name}, line {number}"
            try:
                documents.append(_document(where, json_object(where, line), path.stem, label_map))
            except BadRecords as error:
                problems += error.problems
            else:
                labels |= {span.label for span in documents[-1].spans}
    if len(problems) > before and (known := format_of(text)) not in (None, "gleaner"):
        command = f"`gleaner data convert {path} OUT.jsonl` makes JSON lines of it"
        problems[before:] = [f"{path} seems to be of {TITLES[known]}: {command}. ({problems[before]})"]
    if not documents and len(problems) == before:
        problems.append(f"{path} holds no document.")
    return LabelledSet(path.stem, _equal_texts_together(documents), frozenset(labels))


def text_key(text: str) -> str:
    """Normalize white space; texts that differ only in it have one key."""
    return " ".join(text.split())


def repeated_texts(sets: Iterable[LabelledSet]) -> int:
    """Count the documents with the text of an earlier one, of any set."""
    counts = Counter(text_key(document.text) for each in sets for document in each.documents)
    return counts.total() - len(counts)


def _equal_texts_together(documents: Iterable[LabelledDocument]) -> tuple[LabelledDocument, ...]:
    """Move documents of one text to one group: the first of theirs to be left out."""
    documents = tuple(documents)
    groups: dict[str, str] = {}
    for document in documents:
        key = text_key(document.text)
        groups[key] = min(document.group, groups.get(key, document.group), key=_order)
    return tuple(
        document if groups[key] == document.group else replace(document, group=groups[key])
        for document in documents
        for key in (text_key(document.text),)
    )


def left_out(labelled: LabelledSet, percent: float, *, at_least_one: bool = False) -> LabelledSet:
    """Choose the groups that training leaves out, by the order of their names' digests.

    Groups go out until they hold `percent` of the set's text; the choice depends on nothing else.

    Args:
        at_least_one: if all of several groups are large, the first goes out, as in `gleaner train`. The built-in
            model's training left none of them out.
    """
    sizes: Counter[str] = Counter()
    for document in labelled.documents:
        sizes[document.group] += len(document.text)
    total, taken, out = sizes.total(), 0, set[str]()
    for group in sorted(sizes, key=_order):
        if taken * 100 < percent * total and sizes[group] * 100 <= LARGEST_PERCENT * total:
            out.add(group)
            taken += sizes[group]
    if not out and at_least_one and len(sizes) > 1:
        out = {min(sizes, key=_order)}
    return labelled.only(document for document in labelled.documents if document.group in out)


def limited(labelled: LabelledSet, documents: int) -> LabelledSet:
    """Reduce a set to at most `documents`: the first of each group, then the second, so that many groups stay."""
    rounds: Counter[str] = Counter()
    ordered: list[tuple[int, int, int]] = []
    for number, document in enumerate(labelled.documents):
        ordered.append((rounds[document.group], digest_of(document.group), number))
        rounds[document.group] += 1
    kept = {number for _, _, number in sorted(ordered)[:documents]}
    return labelled.only(document for number, document in enumerate(labelled.documents) if number in kept)


def digest_of(group: str) -> int:
    """Compute a number of 32 bits from only the group's name."""
    return int.from_bytes(hashlib.sha256(group.encode()).digest()[:4], "big")


def _order(group: str) -> tuple[int, str]:
    return digest_of(group), group


def _files(paths: Iterable[Path], problems: list[str]) -> Iterator[Path]:
    for path in paths:
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not files:
            problems.append(f"{path} holds no .jsonl file.")
        yield from files


def text_of_file(path: Path) -> str:
    """Read a file's text. Raises BadRecords, which tells how to convert a known binary format."""
    try:
        data = path.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise BadRecords([f"{path} cannot be read: {error.strerror}."]) from error
    except UnicodeDecodeError as error:
        cure = next((words for start, words in BINARY_FORMATS.items() if data.startswith(start)), f"{error}.")
        raise BadRecords([f"{path} cannot be read: {cure}"]) from error


def json_object(where: str, text: str) -> dict[str, Any]:
    """Read a JSON object. Raises BadRecords, which names `where` it stands."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise BadRecords([f"{where}: {error}."]) from error
    if not isinstance(content, dict):
        raise BadRecords([f"{where}: a JSON object is wanted."])
    return content


def _document(where: str, record: dict[str, Any], name: str, label_map: LabelMap | None) -> LabelledDocument:
    entities, fields = record.get("entities"), record.get("fields") or {}
    if not isinstance(entities, list) or not isinstance(fields, dict):
        raise BadRecords([f"{where}: `entities` must be a list and `fields` an object."])
    try:
        text = RecordText(record.get("text"), record.get("pages"))
        spans = sorted(LabelledSpan(*text.span(entity)) for entity in entities)
    except BadText as error:
        raise BadRecords([f"{where}: {error}."]) from error
    if label_map is not None and (unknown := {span.label for span in spans} - label_map.keys()):
        raise BadRecords([f"{where}: the label {min(unknown)[:40]!r} is not in the mapping of this set."])
    labels = [span.label if label_map is None else label_map[span.label] for span in spans]
    return LabelledDocument(
        id=str(record.get("id", where)),
        text=text.text,
        spans=tuple(span._replace(label=label) for span, label in zip(spans, labels, strict=True) if label),
        group=str(record.get("group", record.get("id", where))),
        language=str(record.get("lang", "unknown")),
        kind=str(record.get("kind") or name.partition("_")[0]),
        fields=_truth(fields, label_map),
        unmapped=tuple((span.start, span.end) for span, label in zip(spans, labels, strict=True) if not label),
        placed=text.placed,
    )


def _truth(fields: dict[str, Any], label_map: LabelMap | None) -> dict[str, tuple[str, ...]]:
    """Map roles to right values. A role is a label in lower case; a set's own label is mapped first."""
    truth: dict[str, tuple[str, ...]] = {}
    for name, values in fields.items():
        role = ((label_map or {}).get(name) or name).lower()
        listed = values if isinstance(values, list) else [values]
        truth[role] = (*truth.get(role, ()), *(str(value) for value in listed if value not in (None, "")))
    return {role: values for role, values in truth.items() if values}
