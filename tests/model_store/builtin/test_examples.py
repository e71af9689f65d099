"""Reading sets: mapping, overlaps, whole addresses, currencies, and which labels a set vouches for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model_store.builtin.training.encoding import IGNORED, open_tags, tag_ids
from model_store.builtin.training.examples import Example, read_set
from model_store.builtin.training.labels import TAG_IDS, TAGS, Span, spans_from_tags
from model_store.builtin.training.mixture import split

MAPPING: dict[str, dict[str, str | None]] = {
    "invoice_small": {"STREET": "ADDRESS", "TOWN": "ADDRESS", "TOTAL": "TOTAL_AMOUNT", "NOTE": None}
}


def read(tmp_path: Path, text: str, *marks: tuple[int, int, str]) -> Example:
    entities: list[dict[str, Any]] = [{"start": s, "end": e, "label": label} for s, e, label in marks]
    path = tmp_path / "invoice_small.jsonl"
    record = {"id": "1", "text": text, "lang": "en", "source": "invoice_small", "group": "g", "entities": entities}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return read_set(path, MAPPING)[0]


def found(example: Example) -> list[tuple[str, str | None]]:
    return [(example.text[start:end], label) for start, end, label in example.spans]


def test_street_and_town_become_one_address(tmp_path: Path) -> None:
    example = read(tmp_path, "1 Road\n10 Town", (0, 6, "STREET"), (7, 9, "TOWN"), (10, 14, "TOWN"))
    assert found(example) == [("1 Road\n10 Town", "ADDRESS")]


def test_a_currency_beside_an_amount_belongs_to_it(tmp_path: Path) -> None:
    example = read(tmp_path, "Total 12.50 € now, or EUR 13.00", (6, 11, "TOTAL"), (26, 31, "TOTAL"))
    assert found(example) == [("12.50 €", "TOTAL_AMOUNT"), ("EUR 13.00", "TOTAL_AMOUNT")]


def test_the_first_and_longest_of_overlapping_marks_stays(tmp_path: Path) -> None:
    example = read(tmp_path, "1 Long Road", (2, 6, "STREET"), (0, 11, "STREET"), (7, 11, "NOTE"))
    assert found(example) == [("1 Long Road", "ADDRESS")]


def test_a_mark_outside_the_scheme_is_ignored_rather_than_o(tmp_path: Path) -> None:
    example = read(tmp_path, "see note", (4, 8, "NOTE"))
    assert tag_ids([(0, 3), (4, 8)], example.spans) == [0, IGNORED]


def test_a_set_vouches_for_what_it_marks_and_for_what_cannot_be_there(tmp_path: Path) -> None:
    example = read(tmp_path, "nothing")
    assert example.annotated == {"ADDRESS", "TOTAL_AMOUNT"}
    hidden = open_tags(example.settled)
    assert not hidden[TAG_IDS["B-ADDRESS"]]
    assert not hidden[TAG_IDS["B-DEGREE"]], "no degrees on invoices"
    assert hidden[TAG_IDS["I-PERSON"]]
    assert not hidden[TAG_IDS["O"]]


def test_tags_and_spans_are_each_others_inverse() -> None:
    offsets = [(0, 2), (2, 4), (5, 7), (8, 9)]
    spans = [Span(0, 4, "PERSON"), Span(5, 7, "PERSON"), Span(8, 9, "DATE")]
    tags = tag_ids(offsets, spans)
    assert [TAGS[tag] for tag in tags] == ["B-PERSON", "I-PERSON", "B-PERSON", "B-DATE"]
    assert spans_from_tags(tags, offsets) == spans


def test_a_group_is_never_on_both_sides_of_the_split() -> None:
    examples = [Example("some text", (), "s", f"g{number % 12}") for number in range(60)]
    training, held_out = split(examples)
    assert training
    assert held_out
    assert not {example.group for example in training} & {example.group for example in held_out}
