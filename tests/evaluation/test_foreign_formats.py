"""Other tools' labelled data: each format is found by its content, and its entities are where the tool meant them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from service.evaluation.foreign_documents import ReadOptions, UnreadableFormat
from service.evaluation.foreign_formats import ForeignData, format_of, read_foreign
from service.evaluation.tagged_tokens import read_conll

Marked = tuple[str, str]
"""An entity's text and label."""


def read(text: str, **options: Any) -> ForeignData:
    return read_foreign(text, None, ReadOptions(**options))


def marked(data: ForeignData) -> list[list[Marked]]:
    return [[(each.text[span.start : span.end], span.label) for span in each.spans] for each in data.documents]


def lines(*records: Any) -> str:
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in records) + "\n"


CONLL_2003 = """-DOCSTART- -X- -X- O

Aldo NNP B-NP B-PER
Renner NNP I-NP I-PER
, , O O
of IN B-PP O
Ferrum NNP B-NP B-ORG
( ( O O
Graz NNP B-NP B-LOC
) ) O O
. . O O

Paid VBN B-VP O
. . O O

-DOCSTART- -X- -X- O

Nothing NN B-NP O
"""
WNUT = "@\tO\nMia\tB-person\n\nin\tO\nUlm\tB-location\nMitte\tI-location\n"
ENDED = "Ida S-PER\nand O\nNew B-LOC\nSalem I-LOC\nCity E-LOC\nOslo S-LOC\n"
LETTERED = "Ida U-PER\nNew B-LOC\nSalem L-LOC\nOslo U-LOC\n"
FIRST_SCHEME = "Ida I-PER\nBo B-PER\nin O\nUlm I-LOC\n"
COMMENTED = "# id 7f domain=en\nIda _ _ B-PER\n# _ _ O\n9 _ _ O\n"
NESTED = "#\thttp://a.example [2020]\n1\tUniversität\tB-ORG\tO\n2\tBonn\tI-ORG\tB-LOC\n\n1\tUlm\tB-LOC\tO\n"


@pytest.mark.parametrize(
    ("text", "texts", "found"),
    [
        (
            CONLL_2003,
            ["Aldo Renner, of Ferrum (Graz).\nPaid.", "Nothing"],
            [[("Aldo Renner", "PER"), ("Ferrum", "ORG"), ("Graz", "LOC")], []],
        ),
        (WNUT, ["@ Mia", "in Ulm Mitte"], [[("Mia", "person")], [("Ulm Mitte", "location")]]),
        (
            ENDED,
            ["Ida and New Salem City Oslo"],
            [[("Ida", "PER"), ("New Salem City", "LOC"), ("Oslo", "LOC")]],
        ),
        (LETTERED, ["Ida New Salem Oslo"], [[("Ida", "PER"), ("New Salem", "LOC"), ("Oslo", "LOC")]]),
        (FIRST_SCHEME, ["Ida Bo in Ulm"], [[("Ida", "PER"), ("Bo", "PER"), ("Ulm", "LOC")]]),
        (COMMENTED, ["Ida # 9"], [[("Ida", "PER")]]),
        (NESTED, ["Universität Bonn", "Ulm"], [[("Universität Bonn", "ORG")], [("Ulm", "LOC")]]),
        (WNUT.replace("\n", "\r\n"), ["@ Mia", "in Ulm Mitte"], [[("Mia", "person")], [("Ulm Mitte", "location")]]),
        ("東 B-LOC\n京 I-LOC\nは O\n", ["東京は"], [[("東京", "LOC")]]),
    ],
)
def test_tagged_tokens_become_text_and_spans(text: str, texts: list[str], found: list[list[Marked]]) -> None:
    assert format_of(text) == "conll"
    data = read(text)
    assert [each.text for each in data.documents] == texts
    assert marked(data) == found


def test_labels_without_prefixes_are_read_when_told_to() -> None:
    text = "Ida PER\nLovelace PER\nin O\nUlm LOC\n"
    assert format_of(text) is None
    data = read_foreign(text, "conll", ReadOptions())
    assert marked(data) == [[("Ida Lovelace", "PER"), ("Ulm", "LOC")]]
    assert list(data.notes.values()) == [2]


def test_the_inner_column_of_nested_tags_is_named_and_can_be_read() -> None:
    data = read(NESTED)
    assert any("--column 4" in note for note in data.notes)
    assert marked(read(NESTED, column=4)) == [[("Bonn", "LOC")], []]
    assert not read(CONLL_2003).notes, "phrases are no entities"


def test_a_line_without_a_tag_is_named() -> None:
    with pytest.raises(UnreadableFormat, match="line 2"):
        read_foreign("Ida B-PER\nalone\n", "conll", ReadOptions())


TEXT = "Ida Berg paid Ferrum AG"
FOUND = [("Ida Berg", "PERSON"), ("Ferrum AG", "ORG")]
SPACY_3 = {
    "text": TEXT,
    "ents": [{"start": 0, "end": 8, "label": "PERSON"}, {"start": 14, "end": 23, "label": "ORG"}],
    "tokens": [{"id": 0, "start": 0, "end": 3}],
}
SPACY_2 = {
    "id": 0,
    "paragraphs": [
        {
            "sentences": [
                {
                    "tokens": [
                        {"id": 0, "orth": "Ida", "ner": "B-PERSON"},
                        {"id": 1, "orth": "Berg", "ner": "L-PERSON"},
                        {"id": 2, "orth": "paid", "ner": "O"},
                        {"id": 3, "orth": "Ferrum", "ner": "B-ORG"},
                        {"id": 4, "orth": "AG", "ner": "L-ORG"},
                    ],
                    "brackets": [],
                }
            ]
        }
    ],
}
PAIR = [TEXT, {"entities": [[0, 8, "PERSON"], [14, 23, "ORG"]]}]
PRODIGY = {
    "text": TEXT,
    "_input_hash": 81,
    "tokens": [{"text": "Ida", "start": 0, "end": 3, "id": 0, "ws": True}],
    "spans": [
        {"start": 0, "end": 8, "token_start": 0, "token_end": 1, "label": "PERSON"},
        {"start": 14, "end": 23, "token_start": 3, "token_end": 4, "label": "ORG"},
    ],
    "answer": "accept",
    "_view_id": "ner_manual",
}
DOCCANO_OLD = {"id": 4, "text": TEXT, "label": [[0, 8, "PERSON"], [14, 23, "ORG"]]}
DOCCANO = {
    "id": 4,
    "text": TEXT,
    "entities": [
        {"id": 1, "label": "PERSON", "start_offset": 0, "end_offset": 8},
        {"id": 2, "label": "ORG", "start_offset": 14, "end_offset": 23},
    ],
    "relations": [],
    "Comments": [],
}


def region(start: int, end: int, label: str, text: str | None = None) -> dict[str, Any]:
    value: dict[str, Any] = {"start": start, "end": end, "labels": [label]}
    if text is not None:
        value["text"] = text
    return {"id": "r1", "from_name": "label", "to_name": "text", "type": "labels", "origin": "manual", "value": value}


def task(text: str, *regions: dict[str, Any], **more: Any) -> dict[str, Any]:
    annotation = {"id": 9, "completed_by": 1, "was_cancelled": False, "ground_truth": False, "result": list(regions)}
    return {"id": 3, "annotations": [annotation], "predictions": [], "data": {"text": text, "source": "x"}, **more}


STUDIO = task(TEXT, region(0, 8, "PERSON", "Ida Berg"), region(14, 23, "ORG", "Ferrum AG"))
STUDIO_MIN = {
    "id": 3,
    "letter": TEXT,
    "label": [
        {"start": 0, "end": 8, "text": "Ida Berg", "labels": ["PERSON"]},
        {"start": 14, "end": 23, "text": "Ferrum AG", "labels": ["ORG"]},
    ],
    "annotator": 1,
    "annotation_id": 9,
    "created_at": "2026-01-05T10:00:00Z",
    "lead_time": 4.2,
}
HUGGING_FACE = {
    "id": "0",
    "tokens": ["Ida", "Berg", "paid", "Ferrum", "AG"],
    "ner_tags": ["B-PERSON", "I-PERSON", "O", "B-ORG", "I-ORG"],
}
OURS = {
    "text": TEXT,
    "entities": [{"start": 0, "end": 8, "label": "PERSON"}, {"start": 14, "end": 23, "label": "ORG"}],
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("spacy", lines(PAIR)),
        ("spacy", json.dumps([PAIR, PAIR])),
        ("spacy", json.dumps({"classes": ["PERSON"], "annotations": [PAIR, None]})),
        ("spacy", lines({"text": TEXT, **PAIR[1]})),  # type: ignore[dict-item]
        ("spacy", json.dumps(SPACY_3, indent=1)),
        ("spacy", json.dumps([SPACY_2])),
        ("prodigy", lines(PRODIGY)),
        ("doccano", lines({"id": 1, "text": "x", "label": []}, DOCCANO_OLD)),
        ("doccano", lines({"id": 4, "data": TEXT, "labels": DOCCANO_OLD["label"]})),
        ("doccano", lines(DOCCANO)),
        ("label-studio", json.dumps([STUDIO])),
        ("label-studio-min", json.dumps([STUDIO_MIN], indent=2)),
        ("huggingface", lines(HUGGING_FACE)),
        ("gleaner", "\ufeff" + lines(OURS)),
    ],
)
def test_a_format_is_found_and_its_entities_are_those_of_the_tool(name: str, text: str) -> None:
    data = read(text)
    assert data.format == name
    assert marked(data)[-1] == FOUND
    assert not data.notes


@pytest.mark.parametrize("text", ["", "Dear Ida,\n\nthank you.\n", "[1, 2]", '{"a": 1}', "{", "name,age\nIda,7\n"])
def test_what_is_of_no_format_is_not_guessed(text: str) -> None:
    assert format_of(text) is None


EMOJI = "🎉👍 Ida in Ulm"
"""Two characters that JavaScript counts as two units each."""


@pytest.mark.parametrize(
    ("record", "options", "noted"),
    [
        ({"id": 1, "text": EMOJI, "label": [[5, 8, "P"]]}, {}, True),
        ({"id": 1, "text": EMOJI, "label": [[3, 6, "P"]]}, {"unit": "codepoint"}, False),
        ([EMOJI, {"entities": [[3, 6, "P"]]}], {}, True),
        ([EMOJI, {"entities": [[5, 8, "P"]]}], {"unit": "utf16"}, False),
        (task(EMOJI, region(3, 6, "P", "Ida")), {}, False),
        (task(EMOJI, region(5, 8, "P", "Ida")), {}, False),
        (task(EMOJI, region(3, 6, "P")), {}, True),
        ({"text": "é Ida", "label": [[2, 5, "P"]]}, {}, False),
    ],
)
def test_offsets_are_brought_to_code_points(record: Any, options: dict[str, str], noted: bool) -> None:
    data = read(lines(record), **options)
    assert marked(data) == [[("Ida", "P")]]
    assert bool(data.doubts) is noted


@pytest.mark.parametrize(
    ("text", "documents", "words"),
    [
        (lines(PRODIGY, {**PRODIGY, "answer": "reject"}, {**PRODIGY, "answer": "ignore"}), 1, ["'reject'", "'ignore'"]),
        (lines({**PRODIGY, "_view_id": "ner"}), 1, ["yes-or-no"]),
        (lines({**DOCCANO, "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "r"}]}), 1, ["relations"]),
        (json.dumps([STUDIO, {**task("x"), "annotations": []}]), 1, ["without an annotation"]),
        (
            json.dumps([task(TEXT, region(0, 3, "P"), {"type": "choices", "value": {"choices": ["a"]}})]),
            1,
            ["'choices'"],
        ),
        (json.dumps([task(TEXT, region(0, 3, "P", "Ada"))]), 1, ["own text"]),
        (lines({**SPACY_3, "spans": {"sc": [{"start": 0, "end": 3, "label": "X"}]}}), 1, ["spans of groups"]),
    ],
)
def test_what_is_left_out_is_noted(text: str, documents: int, words: Sequence[str]) -> None:
    data = read(text)
    assert len(data.documents) == documents
    notes = "\n".join(data.notes | data.doubts)
    assert all(word in notes for word in words), notes


def test_of_several_annotations_the_ground_truth_is_taken() -> None:
    several = task(TEXT, region(0, 3, "P"))
    better = {**several["annotations"][0], "ground_truth": True, "result": [region(4, 8, "P")]}
    several["annotations"].append(better)
    data = read(json.dumps([several]))
    assert marked(data) == [[("Berg", "P")]]
    assert "several annotations" in "".join(data.notes)


def test_numbered_tags_need_their_names() -> None:
    numbered = lines({"tokens": ["Ida", "Berg"], "ner_tags": [1, 2]})
    assert marked(read(numbered, tag_names=("O", "B-PER", "I-PER"))) == [[("Ida Berg", "PER")]]
    with pytest.raises(UnreadableFormat, match="--tags"):
        read(numbered)
    with pytest.raises(UnreadableFormat, match="no name for the tag 2"):
        read(numbered, tag_names=("O", "B-PER"))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("huggingface", lines({"tokens": ["a", "b"], "ner_tags": ["O"]}), "2 tokens and 1 tags"),
        ("prodigy", lines(PRODIGY, {"spans": [{}]}), "record of Prodigy"),
        ("doccano", lines(DOCCANO) + "{", "line 2"),
        ("label-studio", json.dumps([task(TEXT) | {"data": {"a": "x", "b": "y"}}]), "which of a, b"),
        ("spacy", json.dumps([[5, {"entities": []}]]), "no record of spaCy"),
    ],
)
def test_a_record_of_another_shape_is_named(name: str, text: str, words: str) -> None:
    with pytest.raises(UnreadableFormat, match=words):
        read_foreign(text, name, ReadOptions())


def test_spaces_beside_marks_are_guessed_and_doubted() -> None:
    data = read_foreign("P B-ID\n- I-ID\n101 I-ID\nis O\nIda B-PER\n, O\n( O\nok O\n) O\n", "conll", ReadOptions())
    assert [each.text for each in data.documents] == ["P - 101 is Ida, (ok)"]
    assert {each: count for each, count in data.notes.items() if "guessed" in each and "'P -'" in each}
    assert sum(data.notes.values()) == 2
    plain = read_foreign("Ida B-PER\nBerg I-PER\nwon O\n. O\n", "conll", ReadOptions())
    assert not plain.notes


def test_a_file_that_says_its_spaces_is_read_by_them() -> None:
    rows = (("P", "B-ID", "SpaceAfter=No"), ("-", "I-ID", "SpaceAfter=No|x=1"), ("101", "I-ID", "_"), (",", "O", "_"))
    text = "".join("\t".join((str(number), *row)) + "\n" for number, row in enumerate(rows, 1))
    assert format_of(text) == "conll"
    data = read_foreign(text, "conll", ReadOptions())
    assert marked(data) == [[("P-101", "ID")]]
    assert [each.text for each in data.documents] == ["P-101 ,"]
    assert not data.notes


def test_a_conll_file_keeps_the_number_of_each_first_line() -> None:
    assert [each.line for each in read_conll(WNUT, Counter())] == [1, 4]
