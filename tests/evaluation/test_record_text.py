"""Texts of records with pages: what the service makes of the words, and where entities stand in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.evaluation.labelled_documents import BadRecords, LabelledDocument, read_sets
from service.evaluation.record_text import BadText, RecordText, pages_json, read_pages


def page(*lines: str, width: float = 200, **more: Any) -> dict[str, Any]:
    """A page whose lines stand one below another; each letter is 5 wide."""
    words = []
    for number, line in enumerate(lines):
        place = 0
        for word in line.split():
            place = line.index(word, place)
            box = [5 * place, 12 * number, 5 * (place + len(word)), 12 * number + 10]
            words.append({"text": word, "box": box})
            place += len(word)
    return {"width": width, "height": 300, "words": words, **more}


PAGES = [page("Ida Berg paid", "9.00 EUR"), page("Ulm")]


def test_words_are_read_as_the_service_reads_them() -> None:
    text = RecordText(None, PAGES)
    assert text.text.split("\n")[:2] == ["Ida Berg paid", "9.00 EUR"]
    assert text.placed is not None
    assert [(each.width, each.height) for each in text.placed.pages or ()] == [(200, 300), (200, 300)]


@pytest.mark.parametrize(
    ("entity", "found"),
    [
        ({"page": 1, "words": [0, 2], "label": "A"}, "Ida Berg"),
        ({"page": 1, "words": [3, 5], "label": "A"}, "9.00 EUR"),
        ({"page": 2, "words": [0, 1], "label": "A"}, "Ulm"),
        ({"start": 4, "end": 8, "label": "A"}, "Berg"),
    ],
)
def test_entities_are_words_of_a_page_or_characters(entity: dict[str, Any], found: str) -> None:
    text = RecordText(None, PAGES)
    start, end, _ = text.span(entity)
    assert text.text[start:end] == found


def test_entities_of_a_text_beside_pages_are_moved_to_theirs() -> None:
    given = "Ida  Berg\npaid 9.00 EUR Ulm"
    text = RecordText(given, PAGES)
    spans = [text.span({"start": given.index(each), "end": given.index(each) + len(each), "label": "A"})
             for each in ("Ida  Berg", "paid 9.00", " EUR ", "Ulm")]  # fmt: skip
    assert [text.text[start:end] for start, end, _ in spans] == ["Ida Berg", "paid\n9.00", "EUR", "Ulm"]
    start, end, _ = text.span({"page": 1, "words": [0, 1], "label": "A"})
    assert text.text[start:end] == "Ida"


@pytest.mark.parametrize(
    ("given", "pages", "entity", "words"),
    [
        ("Ida Berg", [page("Ida Borg")], None, "not those of `text`"),
        (None, None, None, "`text` must be a string"),
        (None, [], None, "page"),
        (None, [page("Ida", width=4)], None, "page 1, word 0"),
        (None, {"width": 1}, None, "pages"),
        (None, PAGES, {"page": 3, "words": [0, 1], "label": "A"}, "page 3; there are 2"),
        (None, PAGES, {"page": 2, "words": [0, 2], "label": "A"}, "page 2 has 1 words"),
        (None, PAGES, {"page": 1, "words": [0.0, 1], "label": "A"}, "must be a number"),
        (None, PAGES, {"words": [0, 1], "label": "A"}, "must be a number"),
        (None, PAGES, {"start": 0, "end": 99, "label": "A"}, "not within the text"),
        ("Ida  Ulm", [page("Ida Ulm")], {"start": 3, "end": 5, "label": "A"}, "white space alone"),
        ("Ida", None, {"words": [0, 1], "label": "A"}, "needs `start`"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, pages: Any, entity: Any, words: str) -> None:
    with pytest.raises(BadText, match=words):
        RecordText(given, pages).span(entity)


def test_pages_are_written_as_they_were_read() -> None:
    document = read_pages([*PAGES, page()])
    again = read_pages(json.loads(pages_json(document)))
    assert (again.text, again.pages) == (document.text, document.pages)
    assert again.words is not None
    assert document.words is not None
    assert (again.words.boxes == document.words.boxes).all()


def test_a_set_may_mix_pages_and_texts(tmp_path: Path) -> None:
    records = [
        {"id": "a", "pages": PAGES, "entities": [{"page": 2, "words": [0, 1], "label": "CITY"}]},
        {"id": "b", "text": "in Ulm", "entities": [{"start": 3, "end": 6, "label": "CITY"}]},
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    paged, plain = read_sets([path])[0].documents

    def found(document: LabelledDocument) -> list[str]:
        return [document.text[span.start : span.end] for span in document.spans]

    assert found(paged) == found(plain) == ["Ulm"]
    assert paged.document.words is not None
    assert (plain.placed, plain.document.text) == (None, "in Ulm")
    records[0]["entities"] = [{"page": 9, "words": [0, 1], "label": "CITY"}]
    path.write_text("\n".join(map(json.dumps, records)))
    with pytest.raises(BadRecords, match=r"set.jsonl, line 1: an entity is on page 9"):
        read_sets([path])
