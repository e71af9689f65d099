"""Labelled documents: what is read of a file, what is refused with its line, and which are scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.evaluation.labelled_documents import (
    NO_SCHEME,
    BadRecords,
    LabelledDocument,
    LabelledSet,
    LabelledSpan,
    LabelMap,
    LabelScheme,
    left_out,
    nearest_scheme,
    read_scheme,
    read_sets,
    repeated_texts,
)

DOCUMENT: dict[str, Any] = {"text": "Anna paid 9.00", "entities": [{"start": 0, "end": 4, "label": "PERSON"}]}


def write(path: Path, *records: dict[str, Any] | str) -> Path:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in records)
    path.write_text("\n".join(lines))
    return path


def read_set(path: Path, label_map: LabelMap | None = None) -> LabelledSet:
    return read_sets([path], LabelScheme({} if label_map is None else {path.stem: label_map}, {}))[0]


def test_only_text_and_entities_must_be_there(tmp_path: Path) -> None:
    found = read_set(write(tmp_path / "invoice_mine.jsonl", DOCUMENT, "", {**DOCUMENT, "text": "Anna paid 8.00"}))
    first, second = found.documents
    assert (found.name, found.labels, found.groups) == ("invoice_mine", frozenset({"PERSON"}), 2)
    assert first.spans == (LabelledSpan(0, 4, "PERSON"),)
    assert (first.kind, first.language, first.fields) == ("invoice", "unknown", {})
    assert first.group != second.group


def test_the_rest_is_read_if_it_is_there(tmp_path: Path) -> None:
    record = {
        **DOCUMENT,
        "id": 7,
        "group": "g",
        "lang": "de",
        "kind": "receipt",
        "fields": {"total_amount": [9.0, None]},
    }
    (document,) = read_set(write(tmp_path / "a.jsonl", record)).documents
    assert (document.id, document.group, document.language, document.kind) == ("7", "g", "de", "receipt")
    assert document.fields == {"total_amount": ("9.0",)}


def test_a_mapping_names_the_labels_that_count(tmp_path: Path) -> None:
    """Also those that no document happens to have; and what is mapped to nothing is no entity."""
    mapping = {"PERSON": None, "company": "SUPPLIER_NAME", "total": "TOTAL_AMOUNT", "due": "TOTAL_AMOUNT"}
    record = {**DOCUMENT, "fields": {"total": "9.00", "due": ["10.00"], "company": "", "other": "x"}}
    found = read_set(write(tmp_path / "a.jsonl", record), mapping)
    assert found.labels == {"SUPPLIER_NAME", "TOTAL_AMOUNT"}
    assert found.documents[0].spans == ()
    assert found.documents[0].fields == {"total_amount": ("9.00", "10.00"), "other": ("x",)}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("{", "line 2"),
        ("[]", "object"),
        ({"entities": []}, "`text`"),
        ({"text": "a", "entities": None}, "`entities`"),
        ({"text": "a", "entities": [], "fields": [1]}, "`fields`"),
        ({"text": "a", "entities": ["x"]}, "`start`"),
        ({"text": "a", "entities": [{"start": 0, "end": 2, "label": "P"}]}, "not within the text"),
        ({"text": "ab", "entities": [{"start": 0.5, "end": 2, "label": "P"}]}, "whole numbers"),
        ({"text": "ab", "entities": [{"start": 0, "end": 2, "label": 5}]}, "has no label"),
        ({"text": "ab", "entities": [{"start": "0", "end": 2, "label": "P"}]}, "`start`"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, record: dict[str, Any] | str, words: str) -> None:
    with pytest.raises(BadRecords, match=r"line 2") as caught:
        read_set(write(tmp_path / "a.jsonl", DOCUMENT, record))
    assert words in caught.value.detail


def test_a_label_that_the_mapping_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRecords, match="PERSON"):
        read_set(write(tmp_path / "a.jsonl", DOCUMENT), {"company": "SUPPLIER_NAME"})


def test_what_holds_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecords, match="no document"):
        read_set(write(tmp_path / "a.jsonl", ""))
    with pytest.raises(BadRecords, match="missing"):
        read_set(tmp_path / "missing.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadRecords, match=r"no \.jsonl file"):
        read_sets([tmp_path / "empty"])


def test_a_folder_is_all_its_files_and_the_mapping_may_lie_above(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    scheme = {"map": {"a": {"PERSON": "PARTY"}}, "coarse_parent": {"PARTY": "ORGANIZATION"}}
    (tmp_path / "MAPPING.json").write_text(json.dumps(scheme))
    for name in ("b", "a"):
        write(tmp_path / "train" / f"{name}.jsonl", DOCUMENT)
    for path in (tmp_path / "train", tmp_path / "train" / "a.jsonl"):
        found = nearest_scheme([path])
        assert (found.coarse("PARTY"), found.coarse("PERSON")) == ("ORGANIZATION", "PERSON")
    sets = read_sets([tmp_path / "train"], found)
    assert [(each.name, each.labels) for each in sets] == [("a", frozenset({"PARTY"})), ("b", frozenset({"PERSON"}))]
    assert nearest_scheme([Path("/")]) is NO_SCHEME


@pytest.mark.parametrize("content", ['{"map": 5}', "[]", "{", '{"map": {"a": 5}, "coarse_parent": {}}'])
def test_a_bad_mapping_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "MAPPING.json").write_text(content)
    with pytest.raises(BadRecords):
        read_scheme(tmp_path / "MAPPING.json")


def document(number: int, group: str, text: str = "x" * 20) -> LabelledDocument:
    return LabelledDocument(str(number), text, (), group, "en", "ner", {})


def of(*groups: str) -> LabelledSet:
    return LabelledSet("s", tuple(document(number, group) for number, group in enumerate(groups)), frozenset())


MANY = of(*(f"g{number % 40}" for number in range(200)), *["large"] * 120)


def test_whole_groups_are_left_out_and_never_the_largest() -> None:
    found = left_out(MANY, 12)
    outside = {each.group for each in found.documents}
    assert 0.12 <= len(found.documents) / len(MANY.documents) < 0.15
    assert all(each in found.documents for each in MANY.documents if each.group in outside)
    assert "large" not in outside
    assert left_out(MANY, 12) == found


def test_entities_whose_label_is_mapped_to_nothing_are_kept_apart(tmp_path: Path) -> None:
    (document,) = read_set(write(tmp_path / "a.jsonl", DOCUMENT), {"PERSON": None}).documents
    assert (document.spans, document.unmapped) == ((), ((0, 4),))


def test_documents_of_one_text_are_in_one_group_and_on_one_side(tmp_path: Path) -> None:
    """Each document was a group of its own, so that most of a small set's repeated texts were learned and scored."""
    records = [{"text": f"Anna paid {number % 20}{' ' * (number % 3)}", "entities": []} for number in range(300)]
    (found,) = read_sets([write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)))])
    outside = left_out(found, 15)
    texts = {document.text.strip() for document in outside.documents}
    inside = {document.text.strip() for document in found.documents if document not in outside.documents}
    assert texts
    assert not texts & inside
    assert found.groups == 20
    assert repeated_texts([found]) == 280
