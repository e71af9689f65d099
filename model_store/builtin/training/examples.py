"""Labelled documents, read from JSON lines; a set's native labels are mapped to the label scheme.

Owns the labels that each set annotates: the loss and the scores depend on them.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model_store.builtin.training.labels import INVOICE_LABELS, LABELS, Span, coarse, with_descendants

EVERY_LABEL: Final = frozenset(LABELS)
# Labels that cannot occur in the texts of a kind of set, although its annotators were not asked for them.
ABSENT: Final = {
    "ner_": INVOICE_LABELS | {"DEGREE", "SKILL", "EFFECTIVE_DATE"},
    "legal_": INVOICE_LABELS | {"DEGREE", "SKILL", "EFFECTIVE_DATE"},
    "jobad_": INVOICE_LABELS | {"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"},
    "resume_": INVOICE_LABELS | {"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"},
    "contract_": INVOICE_LABELS | {"DEGREE", "SKILL", "SCHOOL"},
    "receipt_": frozenset({"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE", "DEGREE", "SKILL", "SCHOOL", "JOB_TITLE"}),
    "invoice_": frozenset({"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE", "DEGREE", "SKILL", "SCHOOL"}),
}
_CURRENCY_BEFORE: Final = re.compile(r"(?<!\w)(?:€|\$|£|EUR|USD|GBP) ?$")
_CURRENCY_AFTER: Final = re.compile(r" ?(?:€|\$|£|EUR\b|USD\b|GBP\b)")
MERGED_ACROSS: Final = frozenset(" ,\n\t\xa0-")


@dataclass(frozen=True, slots=True)
class Example:
    """A text, its spans in order and without overlap, and the labels whose absence is known where no span is."""

    text: str
    spans: tuple[Span, ...]
    source: str
    group: str
    annotated: frozenset[str] = EVERY_LABEL
    settled: frozenset[str] = EVERY_LABEL


def read_set(path: Path, mapping: dict[str, dict[str, str | None]]) -> list[Example]:
    """All examples of one JSON lines file; `mapping` is source → native label → label of the scheme or None."""
    with path.open(encoding="utf-8") as lines:
        return [_example(json.loads(line), mapping[path.stem]) for line in lines]


def read_mapping(folder: Path) -> dict[str, dict[str, str | None]]:
    """The label mappings of all sets, from the folder's MAPPING.json."""
    content: dict[str, Any] = json.loads((folder / "MAPPING.json").read_text(encoding="utf-8"))
    return {source: dict(labels) for source, labels in content["map"].items()}


def _example(record: dict[str, Any], labels: dict[str, str | None]) -> Example:
    source = str(record["source"])
    annotated = frozenset(label for label in labels.values() if label)
    spans = _ordered(Span(e["start"], e["end"], labels.get(e["label"])) for e in record["entities"])
    spans = _with_currencies(record["text"], _whole_addresses(record["text"], spans))
    return Example(
        text=record["text"],
        spans=tuple(spans),
        source=source,
        group=str(record["group"]),
        annotated=annotated,
        settled=with_descendants(annotated) | _absent(source),
    )


def _absent(source: str) -> frozenset[str]:
    return next((labels for prefix, labels in ABSENT.items() if source.startswith(prefix)), frozenset())


def _ordered(spans: Iterable[Span]) -> list[Span]:
    """By position; of spans that overlap, the first and longest stays."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _with_currencies(text: str, spans: list[Span]) -> list[Span]:
    """Extends amounts to the currency beside them, because some sets mark the number only."""
    widened: list[Span] = []
    for span in spans:
        start, end = span.start, span.end
        if coarse(span.label or "") == "MONEY":
            before, after = _CURRENCY_BEFORE.search(text, max(0, start - 5), start), _CURRENCY_AFTER.match(text, end)
            start, end = before.start() if before else start, after.end() if after else end
        widened.append(Span(start, end, span.label))
    return widened


def _whole_addresses(text: str, spans: list[Span]) -> list[Span]:
    """Joins neighbouring ADDRESS spans (street, postcode, city apart in some sets) into one."""
    merged: list[Span] = []
    for span in spans:
        if (
            merged
            and span.label == merged[-1].label == "ADDRESS"
            and _only_separators(text, merged[-1].end, span.start)
        ):
            merged[-1] = Span(merged[-1].start, span.end, "ADDRESS")
        else:
            merged.append(span)
    return merged


def _only_separators(text: str, start: int, end: int) -> bool:
    return end - start <= 4 and set(text[start:end].replace("DE ", "").replace("FR ", "")) <= MERGED_ACROSS
