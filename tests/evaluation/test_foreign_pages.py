"""Other tools' labelled pages: each format is found by its content, and its words are where the tool meant them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from service.evaluation.foreign_documents import Box, ForeignDocument, ReadOptions, UnreadableFormat, placed_words
from service.evaluation.foreign_formats import ForeignData, format_of, read_foreign
from service.evaluation.foreign_pages import with_boxes

FUNSD = {
    "form": [
        {"box": [10, 10, 60, 20], "text": "Date: ", "label": "question", "linking": [[0, 1]], "id": 0,
         "words": [{"box": [10, 10, 60, 20], "text": "Date:"}, {"box": [60, 10, 61, 20], "text": ""}]},
        {"box": [70, 10, 190, 20], "text": "May 4", "label": "answer", "linking": [[0, 1]], "id": 1,
         "words": [{"box": [70, 10, 110, 20], "text": "May"}, {"box": [120, 10, 130, 20], "text": "4"}]},
        {"box": [10, 90, 40, 99], "text": "p. 1", "label": "other", "linking": [], "id": 2,
         "words": [{"box": [10, 90, 40, 99], "text": "p. 1"}]},
    ]
}  # fmt: skip


def quad(left: int, top: int, right: int, bottom: int) -> dict[str, int]:
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return {f"{axis}{number}": value for number, pair in enumerate(corners, 1)
            for axis, value in zip("xy", pair, strict=True)}  # fmt: skip


CORD = {
    "gt_parse": {},
    "meta": {"version": "2.0", "split": "train", "image_id": 7, "image_size": {"width": 864, "height": 1296}},
    "valid_line": [
        {"category": "menu.nm", "group_id": 3, "sub_group_id": 0,
         "words": [{"quad": quad(256, 412, 300, 445), "is_key": 0, "row_id": 1, "text": "Ice"},
                   {"quad": quad(310, 412, 340, 445), "is_key": 0, "row_id": 1, "text": "Tea"}]},
        {"category": "total.total_price", "group_id": 9, "sub_group_id": 0,
         "words": [{"quad": quad(200, 600, 260, 630), "is_key": 1, "row_id": 2, "text": "TOTAL"},
                   {"quad": quad(700, 600, 900, 630), "is_key": 0, "row_id": 2, "text": "45,500"}]},
    ],
}  # fmt: skip
SROIE = "10,20,90,20,90,40,10,40,ACME SDN BHD\n10,50,60,50,60,70,10,70,RM 9.00\n10,80,50,80,50,90,10,90,9.00\n"


def region(name: str, kind: str, box: Box, **more: Any) -> dict[str, Any]:
    value = dict(zip(("x", "y", "width", "height"), box, strict=True)) | {"rotation": 0} | more
    return {"id": name, "type": kind, "original_width": 200, "original_height": 400, "value": value}


LABEL_STUDIO = {
    "id": 5,
    "data": {"ocr": "/data/upload/a.png"},
    "annotations": [
        {
            "result": [
                region("a", "rectangle", (5, 10, 20, 5)),
                region("a", "labels", (5, 10, 20, 5), labels=["WHO"]),
                region("a", "textarea", (5, 10, 20, 5), text=["Ida Berg"]),
                region("b", "rectanglelabels", (50, 10, 25, 5), rectanglelabels=["SUM"]),
                region("b", "textarea", (50, 10, 25, 5), text="9.00"),
                region("c", "rectangle", (0, 0, 5, 5)),
                {"id": "d", "type": "choices", "value": {"choices": ["receipt"]}},
            ]
        }
    ],
}
TAGGED = {
    "id": "3", "words": ["Ida", "New York", "9"], "bboxes": [[0, 0, 100, 50], [100, 0, 900, 50], [0, 50, 10, 90]],
    "ner_tags": ["O", "B-LOC", "O"],
}  # fmt: skip


def read(content: Any, **options: Any) -> ForeignData:
    return read_foreign(content if isinstance(content, str) else json.dumps(content), None, ReadOptions(**options))


def marked(data: ForeignData) -> list[tuple[str, str]]:
    return [(each.text[span.start : span.end], span.label) for each in data.documents for span in each.spans]


def boxes(data: ForeignData) -> dict[str, Box]:
    return {word.text: word.box for each in data.documents for page in each.pages for word in page.words}


@pytest.mark.parametrize(
    ("content", "name", "entities", "size", "places"),
    [
        (FUNSD, "funsd", [("Date:", "question"), ("May 4", "answer")], (200, 100),
         {"May": (70, 10, 110, 20), "p.": (10, 90, 25, 99), "1": (32.5, 90, 40, 99)}),
        (CORD, "cord", [("Ice Tea", "menu.nm"), ("TOTAL 45,500", "total.total_price")], (864, 1296),
         {"Ice": (256, 412, 300, 445), "45,500": (700, 600, 864, 630)}),
        ({"ground_truth": json.dumps(CORD)}, "cord", [("Ice Tea", "menu.nm"), ("TOTAL 45,500", "total.total_price")],
         (864, 1296), {"Tea": (310, 412, 340, 445)}),
        (LABEL_STUDIO, "label-studio", [("Ida Berg", "WHO"), ("9.00", "SUM")], (200, 400),
         {"Ida": (10, 40, 25, 60), "Berg": (30, 40, 50, 60), "9.00": (100, 40, 150, 60)}),
        (TAGGED, "huggingface", [("New York", "LOC")], (1000, 1000),
         {"Ida": (0, 0, 100, 50), "York": (500, 0, 900, 50)}),
    ],
)  # fmt: skip
def test_pages_of_each_tool(
    content: Any, name: str, entities: list[tuple[str, str]], size: tuple[float, float], places: dict[str, Box]
) -> None:
    data = read(content, page_size=(200, 100))
    assert data.format == name == format_of(json.dumps(content))
    assert marked(data) == entities
    (page,) = data.documents[0].pages
    assert page.size == size
    assert boxes(data) | places == boxes(data)


def test_what_is_left_out_of_pages_is_counted() -> None:
    assert dict(read(FUNSD, page_size=(200, 100)).notes) == {
        "entities with the label 'other', which were read as none": 1
    }
    said = " ".join(read(CORD).notes)
    assert "captions of values" in said
    assert "beyond their page" in said
    notes = read(LABEL_STUDIO).notes
    assert sorted(notes.values()) == [1, 1]
    assert any("without a transcription" in each for each in notes)
    assert any("'choices'" in each for each in notes)


def test_values_of_a_receipt_are_entities_where_they_stand() -> None:
    data = read(SROIE, values={"company": "Acme Sdn  Bhd", "total": "9.00", "date": "1/2/2018"}, page_size=(100, 100))
    assert data.format == "sroie"
    assert marked(data) == [("ACME SDN BHD", "company"), ("9.00", "total"), ("9.00", "total")]
    assert boxes(data)["SDN"] == pytest.approx((10 + 80 * 5 / 12, 20, 10 + 80 * 8 / 12, 40))
    assert [note.split(" that ")[0] for note in data.notes] == ["values of total", "values of date"]
    assert any("without a file of values" in note for note in read(SROIE).notes)


def test_an_unknown_page_ends_at_the_farthest_word_and_says_so() -> None:
    data = read(FUNSD)
    assert data.documents[0].pages[0].size == (130.0, 99.0)
    assert any("unknown size" in note for note in data.notes)


def test_neighbouring_one_word_regions_of_a_label_are_one_entity() -> None:
    found = [
        region(text, kind, (10 * place, 0, 9, 5), **more)
        for place, (text, label) in enumerate([("Ida", "WHO"), ("Berg", "WHO"), ("paid", None), ("Bo", "WHO")])
        for kind, more in (("labels", {"labels": [label] if label else []}), ("textarea", {"text": [text]}))
    ]
    assert marked(read(LABEL_STUDIO | {"annotations": [{"result": found}]})) == [("Ida Berg", "WHO"), ("Bo", "WHO")]


def test_a_turned_region_has_the_box_around_it() -> None:
    turned = region("a", "textarea", (50, 50, 10, 5), text=["up"], rotation=90)
    data = read(LABEL_STUDIO | {"annotations": [{"result": [turned]}]})
    assert boxes(data)["up"] == pytest.approx((80, 200, 100, 220))


def test_the_pages_of_a_task_stay_apart() -> None:
    results = [region(text, "textarea", (0, 0, 9, 5), text=[text]) | {"item_index": page} for text, page in
               (("two", 1), ("one", 0))]  # fmt: skip
    (document,) = read(LABEL_STUDIO | {"annotations": [{"result": results}]}).documents
    assert [[word.text for word in page.words] for page in document.pages] == [["one"], ["two"]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TAGGED | {"bboxes": [[0, 0, 1, 1]]}, "3 tokens, 3 tags and 1 boxes"),
        (TAGGED | {"bboxes": [[0, 0, 1]] * 3}, "no record of Hugging Face"),
        (TAGGED | {"width": 0, "height": 5}, "no room for words"),
        (json.dumps(TAGGED).replace("[0, 0, 100, 50]", "[0, 0, NaN, 50]"), "not finite"),
        ({"form": [{"words": [{"text": "a"}]}]}, "no record of FUNSD"),
        ({"pages": [{"words": []}], "entities": []}, "has pages already"),
    ],
)
def test_pages_that_cannot_be_read_are_named(content: Any, words: str) -> None:
    with pytest.raises(UnreadableFormat, match=words):
        read(content)


def test_boxes_are_joined_by_id_where_they_cover_the_text() -> None:
    texts = {"a": "Ida  paid\n9.00", "b": "Ida paid", "c": "Bo"}
    documents = [ForeignDocument("line 1", text, (), name, others={"group": "g"}) for name, text in texts.items()]
    page: dict[str, Any] = {"width": 100, "height": 50, "words": [[0, 3, 1, 2, 30, 12], [5, 9, 40, 2, 80, 12]]}
    more = {"width": 100, "height": 60, "words": [[10, 14, 5, 6, 7, 8]]}
    doubts: Counter[str] = Counter()
    first, *others = with_boxes(documents, {"a": [page, more], "b": [{**page, "words": page["words"][:1]}]}, doubts)
    assert [(each.size, [word.text for word in each.words]) for each in first.pages] == [
        ((100, 50), ["Ida", "paid"]),
        ((100, 60), ["9.00"]),
    ]
    assert first.text == texts["a"]
    assert first.others == {"group": "g"}
    assert not any(each.pages for each in others)
    assert sorted(doubts.values()) == [1, 1]
    with pytest.raises(UnreadableFormat, match="boxes of a"):
        list(with_boxes(documents, {"a": [{"words": []}]}, doubts))


def test_words_share_a_box_by_their_characters() -> None:
    assert [word.box for word in placed_words(" ab  c ", (0, 0, 10, 1))] == [(0, 0, 4, 1), (8, 0, 10, 1)]
