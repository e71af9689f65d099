"""Foreign records of labelled data: recognizes the tool of a decoded JSON record, and reads its document.

Offsets stay as the tool wrote them. Omissions from a record are counted in `notes`, by a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from service.evaluation.foreign_documents import ForeignDocument, ForeignSpan, ReadOptions, UnreadableFormat
from service.evaluation.foreign_pages import (
    BOXES,
    is_cord,
    is_funsd,
    is_region,
    read_cord,
    read_funsd,
    read_regions,
    read_tagged_boxes,
)
from service.evaluation.tagged_tokens import BadTokens, joined, note_schemes, note_spaces, sentence

_SPANS = ("entities", "spans", "ents", "paragraphs", "tokens", "words")
_TOKENS, _TAGS = ("tokens", "words"), ("ner_tags", "tags", "ner", "labels", "label")


_Reader = Callable[[Any, str, ReadOptions, Counter[str]], Iterator[ForeignDocument]]


def is_pair(record: Any) -> bool:
    """True for `["text", {"entities": …}]`, the training data of spaCy 2."""
    return isinstance(record, list) and len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict)


def is_bare(record: Any) -> bool:
    return (
        isinstance(record, dict) and record.keys() <= {"id", "text", "entities", "label", "labels"} and "text" in record
    )


def _lists(record: Any, name: str, of: type) -> bool:
    """True when a member is a list that begins with a value of this type."""
    found = record.get(name)
    return isinstance(found, list) and bool(found) and isinstance(found[0], of)


def _of_object(is_of: Callable[[dict[str, Any]], bool]) -> Callable[[Any], bool]:
    return lambda record: isinstance(record, dict) and is_of(record)


def _min_labels(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Find the regions of a Label Studio JSON-MIN record, whatever their member is called."""
    lists = (value for value in record.values() if isinstance(value, list))
    return [each for value in lists for each in value if isinstance(each, dict) and "labels" in each]


def class_of(record: Any) -> str | None:
    """Find the class of a record's whole text, as in exports for text classification; None without one."""
    if is_pair(record):
        record = record[1]
    if not isinstance(record, dict) or any(record.get(name) for name in _SPANS):
        return None
    for name in ("cats", "label", "labels", "accept"):
        if isinstance(found := record.get(name), dict):
            found = [key for key, value in found.items() if value]
        first = found[0] if isinstance(found, list) and found else found
        if isinstance(first, str | int) and first != "":
            return str(first)
    return None


def is_classification(where: str, name: str) -> UnreadableFormat:
    """Make the error for a record that classifies its whole text."""
    return UnreadableFormat(
        f"{where}: this is text classification: the whole text has the class {name[:40]!r}. Gleaner learns entities, "
        "each with its start and end in the text: export the spans (sequence labelling)"
    )


SIGNS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("spacy", is_pair),
    ("gleaner", _of_object(lambda r: _lists(r, "pages", dict) and isinstance(r.get("entities"), list))),
    ("funsd", _of_object(is_funsd)),
    ("cord", _of_object(is_cord)),
    ("label-studio", _of_object(lambda r: isinstance(r.get("data"), dict))),
    ("huggingface", _of_object(lambda r: any(_lists(r, name, str) for name in _TOKENS) and any(n in r for n in _TAGS))),
    ("spacy", _of_object(lambda r: "paragraphs" in r or ("text" in r and "ents" in r))),
    ("prodigy", _of_object(lambda r: "text" in r and ("spans" in r or "_input_hash" in r or "answer" in r))),
    ("doccano", _of_object(lambda r: _lists(r, "entities", dict) and "start_offset" in r["entities"][0])),
    ("gleaner", _of_object(lambda r: _lists(r, "entities", dict) and "start" in r["entities"][0])),
    ("spacy", _of_object(lambda r: _lists(r, "entities", list))),
    ("doccano", _of_object(lambda r: _lists(r, "label", list) or _lists(r, "labels", list))),
    ("label-studio-min", _of_object(lambda r: any("start" in each for each in _min_labels(r)))),
)
"""Format and sign of its records, in order of precedence."""


def _gleaner(record: Any, where: str, _: ReadOptions, __: Counter[str]) -> Iterator[ForeignDocument]:
    if "pages" in record:
        raise UnreadableFormat(f"{where}: it has pages already, so that nothing is to be converted")
    spans = (ForeignSpan(each["start"], each["end"], each["label"]) for each in record["entities"])
    others = {name: value for name, value in record.items() if name not in ("id", "text", "entities")}
    yield ForeignDocument(where, _text(record["text"], where), tuple(spans), _id(record), others=others)


def _spacy(record: Any, where: str, _: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    if is_pair(record) or "entities" in record:
        text, holder = record if is_pair(record) else (record["text"], record)
        yield ForeignDocument(where, _text(text, where), tuple(ForeignSpan(*each[:3]) for each in holder["entities"]))
    elif "paragraphs" in record:
        for number, each in enumerate(record["paragraphs"], 1):
            found = [
                sentence([token["orth"] for token in one["tokens"]], [token.get("ner", "O") for token in one["tokens"]])
                for one in each["sentences"]
            ]
            text, spans = joined(found)
            yield ForeignDocument(f"{where}, paragraph {number}", text, tuple(ForeignSpan(*span) for span in spans))
    else:
        spans_of_groups = sum(len(group) for group in record.get("spans", {}).values())
        if spans_of_groups:
            notes["spans of groups (`spans`) beside the entities (`ents`), which were not read"] += spans_of_groups
        ents = tuple(ForeignSpan(each["start"], each["end"], each["label"]) for each in record["ents"])
        yield ForeignDocument(where, _text(record["text"], where), ents)


def _prodigy(record: Any, where: str, _: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    answer = record.get("answer", "accept")
    if answer != "accept":
        notes[f"records that were answered with {answer!r}, which were left out"] += 1
        return
    if record.get("_view_id") == "ner":
        notes["records of a yes-or-no view (ner.teach), where other entities of the text are not marked"] += 1
    spans = record.get("spans") or ()
    found = (ForeignSpan(each["start"], each["end"], each["label"], each.get("text")) for each in spans)
    yield ForeignDocument(where, _text(record["text"], where), tuple(found))


def _doccano(record: Any, where: str, _: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    if record.get("relations"):
        notes["relations, which were not read"] += len(record["relations"])
    if (name := class_of(record)) is not None:
        raise is_classification(where, name)
    newer = record.get("entities") or ()
    older = record.get("label") or record.get("labels") or ()
    spans = [ForeignSpan(each["start_offset"], each["end_offset"], each["label"]) for each in newer]
    spans += [ForeignSpan(*each[:3]) for each in older]
    text = record["text"] if "text" in record else record["data"]
    yield ForeignDocument(where, _text(text, where), tuple(spans), _id(record))


def _label_studio(record: Any, where: str, _: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    given = record.get("annotations", record.get("completions")) or []
    kept = [each for each in given if not each.get("was_cancelled") and not each.get("skipped")]
    if not kept:
        notes["tasks without an annotation, which were left out"] += 1
        return
    if len(kept) > 1:
        notes["tasks with several annotations: the one marked as ground truth was taken, else the first"] += 1
    chosen = next((each for each in kept if each.get("ground_truth")), kept[0])
    if any(map(is_region, chosen["result"])):
        yield read_regions(chosen["result"], where, notes, _id(record))
        return
    spans: list[ForeignSpan] = []
    for region in chosen["result"]:
        value = region.get("value", {})
        labels = value.get("labels")
        if labels is None or region.get("type") != "labels":
            notes[f"results of the kind {region.get('type')!r}, which were not read"] += 1
            continue
        spans += [ForeignSpan(value["start"], value["end"], label, value.get("text")) for label in labels]
    yield ForeignDocument(where, _only_text(record["data"], where), tuple(spans), _id(record))


def _label_studio_min(record: Any, where: str, _: ReadOptions, __: Counter[str]) -> Iterator[ForeignDocument]:
    spans = (
        ForeignSpan(each["start"], each["end"], label, each.get("text"))
        for each in _min_labels(record)
        for label in each["labels"]
    )
    theirs = ("created_at", "updated_at", "sentiment", "lead_time")
    texts = {name: value for name, value in record.items() if isinstance(value, str) and name not in theirs}
    yield ForeignDocument(where, _only_text(texts, where), tuple(spans), _id(record))


def _hugging_face(record: Any, where: str, options: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    tokens = next(record[name] for name in _TOKENS if name in record)
    tags = next(record[name] for name in _TAGS if name in record)
    named = [_tag_name(tag, options.tag_names) for tag in tags]
    note_schemes(named, notes)
    if any(name in record for name in BOXES):
        yield read_tagged_boxes(record, tokens, named, where, options, notes)
        return
    note_spaces(tokens, notes)
    text, spans = sentence(tokens, named)
    yield ForeignDocument(where, text, tuple(ForeignSpan(*span) for span in spans), _id(record))


def _tag_name(tag: Any, names: Sequence[str]) -> str:
    if isinstance(tag, str) and not tag.isdecimal():
        return tag
    if not names:
        raise BadTokens("tags are numbers: name them by --tags O,B-PER,I-PER,… or --tags dataset_info.json")
    if not 0 <= int(tag) < len(names):
        raise BadTokens(f"there is no name for the tag {tag} among the {len(names)} that --tags gives")
    return names[int(tag)]


def _id(record: Mapping[str, Any]) -> str | None:
    return None if record.get("id") is None else str(record["id"])


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise UnreadableFormat(f"{where}: its text is no string")
    return value


def _only_text(data: Mapping[str, Any], where: str) -> str:
    """Find the text among a task's data: `text`, else the only string there."""
    strings = [value for value in data.values() if isinstance(value, str)]
    if isinstance(data.get("text"), str):
        return str(data["text"])
    if len(strings) != 1:
        raise UnreadableFormat(f"{where}: which of {', '.join(data) or 'no members'} is its text? Call it `text`.")
    return strings[0]


TITLES = {
    "gleaner": "Gleaner's own JSON lines",
    "conll": "CoNLL",
    "spacy": "spaCy",
    "prodigy": "Prodigy",
    "doccano": "Doccano",
    "label-studio": "Label Studio",
    "label-studio-min": "Label Studio (JSON-MIN)",
    "huggingface": "Hugging Face tokens and tags",
    "funsd": "FUNSD",
    "cord": "CORD",
    "sroie": "SROIE boxes",
}
"""Format → its usual name."""
READERS: dict[str, _Reader] = {
    "gleaner": _gleaner,
    "spacy": _spacy,
    "prodigy": _prodigy,
    "doccano": _doccano,
    "label-studio": _label_studio,
    "label-studio-min": _label_studio_min,
    "huggingface": _hugging_face,
    "funsd": read_funsd,
    "cord": read_cord,
}
