"""`gleaner data`: what it writes trains and scores, and what it leaves out or doubts is said."""

from __future__ import annotations

import io
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from service.cli import main
from service.evaluation.labelled_documents import BadRecords, read_sets
from tests.support.label_models import HOME

Shown = pytest.CaptureFixture[str]
BIO = "Ida B-PER\nBerg I-PER\n\nUlm B-LOC\n\nnothing O\n"


def convert(*arguments: object) -> int:
    return main(["data", "convert", *map(str, arguments)])


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_converted_file_is_read_and_its_labels_are_counted(tmp_path: Path, capsys: Shown) -> None:
    source = written(tmp_path / "a.conll", BIO)
    assert convert(source, tmp_path / "a.jsonl") == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "a.conll: CoNLL; 3 documents (1 without any), 2 entities: PER 1, LOC 1" in shown.err
    (found,) = read_sets([tmp_path / "a.jsonl"])
    assert [(each.text, [span.label for span in each.spans]) for each in found.documents] == [
        ("Ida Berg", ["PER"]),
        ("Ulm", ["LOC"]),
        ("nothing", []),
    ]


def test_standard_input_and_output(capsys: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(BIO))
    assert convert("-") == 0
    assert [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()] == ["Ida Berg", "Ulm", "nothing"]


def test_a_folder_becomes_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    written(tmp_path / "in" / "a.bio", BIO)
    written(tmp_path / "in" / "b.json", json.dumps([["Ulm", {"entities": [[0, 3, "LOC"]]}]]))
    assert convert(tmp_path / "in", tmp_path / "out") == 0
    assert [(each.name, len(each.documents)) for each in read_sets([tmp_path / "out"])] == [("a", 3), ("b", 1)]


def test_what_cannot_be_written_is_named_and_exits_1(tmp_path: Path, capsys: Shown) -> None:
    entities = [[0, 3, "P"], [2, 8, "Q"], [4, 4, "P"], [5, 99, "P"], [-1, 2, "P"], [5, 7, ""], ["0", "2", "P"]]
    source = written(tmp_path / "a.json", json.dumps([["Ida Berg", {"entities": entities}]]))
    assert convert(source, tmp_path / "a.jsonl") == 1
    said = capsys.readouterr().err
    assert "record 1: P at 4:4 is empty" in said
    assert "P at 5:99 is not within the text" in said
    assert "P at -1:2 is not within" in said
    assert "5 entities were left out" in said
    assert "1 entities overlap the one before" in said
    assert "within a word" in said
    record = json.loads((tmp_path / "a.jsonl").read_text())
    assert [each["label"] for each in record["entities"]] == ["P", "Q"], "what overlaps is kept, and named"


FEATURES = {"features": {"ner_tags": {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}}}}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dataset_info.json", json.dumps(FEATURES)),
        ("config.json", json.dumps({"id2label": {"1": "B-PER", "0": "O"}})),
        ("names.txt", "O\nB-PER\n"),
        ("names.json", '["O", "B-PER"]'),
        (None, "O,B-PER"),
    ],
)
def test_names_of_numbered_tags(tmp_path: Path, capsys: Shown, name: str | None, content: str) -> None:
    source = written(tmp_path / "train.jsonl", json.dumps({"tokens": ["Ida"], "ner_tags": [1]}))
    tags = content if name is None else written(tmp_path / name, content)
    assert convert(source, *(() if name == "dataset_info.json" else ("--tags", tags))) == 0
    assert json.loads(capsys.readouterr().out)["entities"] == [{"start": 0, "end": 3, "label": "PER"}]


@pytest.mark.parametrize(
    ("text", "options", "words", "code"),
    [
        ("just words\n", (), "--from says which", 1),
        ('{"tokens": ["a"], "ner_tags": [1]}', (), "--tags O,B-PER", 1),
        ('{"tokens": ["a"], "ner_tags": [1]}', ("--tags", "{source}"), "no names of tags", 2),
        ('{"text": "a", "spans": [{"start": 0}]}', (), "a.txt, read as Prodigy: record 1", 1),
        (BIO, ("--column", "1"), "--column", 2),
        ("", ("--from", "conll"), "holds no document", 1),
    ],
)
def test_what_cannot_be_converted_is_one_message(
    tmp_path: Path, capsys: Shown, text: str, options: tuple[str, ...], words: str, code: int
) -> None:
    source = written(tmp_path / "a.txt", text)
    assert convert(source, tmp_path / "out", *(each.format(source=source) for each in options)) == code
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("gleaner: ")
    assert not (tmp_path / "out").exists()


CLASSES: list[Any] = [
    {"id": 1, "text": "good", "label": ["positive"]},
    {"text": "good", "label": "positive"},
    {"text": "good", "label": 1},
    {"text": "good", "labels": ["positive", "short"]},
    {"text": "good", "cats": {"positive": 1.0, "negative": 0.0}},
    {"text": "good", "cats": ["positive"]},
    {"text": "good", "ents": [], "cats": {"positive": 1.0}},
    ["good", {"cats": {"positive": 1.0}}],
    {"text": "good", "label": "positive", "answer": "accept", "_input_hash": 1},
    {"text": "good", "accept": ["positive"], "options": [{"id": "positive"}], "answer": "accept"},
]


@pytest.mark.parametrize("record", CLASSES)
@pytest.mark.parametrize("options", [(), ("--from", "doccano")])
def test_labels_of_whole_texts_are_refused_as_classification(
    tmp_path: Path, capsys: Shown, record: Any, options: tuple[str, ...]
) -> None:
    """Their letters were read as offsets, or documents without entities came out, with success."""
    source = written(tmp_path / "a.jsonl", json.dumps(record) + "\n" + json.dumps(record))
    assert convert(source, tmp_path / "out", *options) == 1
    said = capsys.readouterr().err
    assert "classification" in said
    assert "start and end" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "record",
    [
        {"text": "Ida", "label": []},
        {"text": "Ida", "ents": [{"start": 0, "end": 3, "label": "P"}], "cats": {"letter": 1.0}},
        {"text": "Ida", "spans": [{"start": 0, "end": 3, "label": "P"}], "answer": "accept", "label": "P"},
    ],
)
def test_documents_without_entities_and_with_both_are_converted(tmp_path: Path, record: Any) -> None:
    assert convert(written(tmp_path / "a.jsonl", json.dumps(record)), tmp_path / "out") == 0


def test_what_is_doubtful_is_written_and_exits_1(tmp_path: Path, capsys: Shown) -> None:
    """As `check` does; a pipeline went on with entities that overlap, which training refuses."""
    overlap = ["Ida Berg", {"entities": [[0, 8, "P"], [4, 8, "P"]]}]
    assert convert(written(tmp_path / "a.json", json.dumps([overlap])), tmp_path / "out") == 1
    assert "1 entities overlap" in capsys.readouterr().err
    assert len((tmp_path / "out").read_text().splitlines()) == 1
    shifted = {"text": "Ida Berg", "spans": [{"start": 0, "end": 3, "label": "P", "text": "Berg"}], "answer": "accept"}
    assert convert(written(tmp_path / "b.jsonl", json.dumps(shifted)), tmp_path / "out") == 1


def test_the_source_is_not_written_over(tmp_path: Path) -> None:
    source = written(tmp_path / "a.conll", BIO)
    assert convert(source, source) == 2
    assert source.read_text() == BIO


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BIO.encode(), "gleaner data convert"),
        (json.dumps([{"data": {"text": "a"}, "annotations": [{"result": []}]}]).encode(), "Label Studio"),
        (b'{"text": "Ida", "label": [[0, 3, "PER"]]}\n', "Doccano"),
        (zlib.compress(b"docs"), "DocBin"),
        (b"PAR1\xff\x00", "to_json"),
    ],
)
def test_a_foreign_file_names_what_reads_it(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(BadRecords, match="data convert") as caught:
        read_sets([tmp_path / "a.jsonl"])
    assert words in caught.value.detail
    assert len(caught.value.problems) == 1


GOOD: dict[str, Any] = {"text": "Ida Berg", "entities": [{"start": 0, "end": 8, "label": "PER"}]}


def check(*arguments: object) -> int:
    return main(["data", "check", *map(str, arguments)])


def test_a_sound_file_is_counted_and_exits_0(tmp_path: Path, capsys: Shown) -> None:
    data = written(tmp_path / "a.jsonl", json.dumps(GOOD))
    assert check(data) == 0
    assert capsys.readouterr().out == "a: 1 documents, 1 entities: PER 1, 1 groups\n"


def test_doubts_are_counted_with_their_places(tmp_path: Path, capsys: Shown) -> None:
    spans = ((0, 3, "PER"), (2, 8, "PER"), (3, 4, "XYZ"), (4, 7, "PER"))
    doubtful = {
        "id": "d",
        "text": "Ida Berg",
        "entities": [dict(zip(("start", "end", "label"), each, strict=True)) for each in spans],
    }
    data = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, (GOOD, doubtful))))
    assert check(data) == 1
    said = capsys.readouterr().out
    assert "1 documents have the text of an earlier one: d" in said
    assert "1 entities begin or end with white space: d XYZ 3:4" in said
    assert "2 entities overlap the one before" in said
    assert "2 entities begin or end within a word" in said


def test_labels_that_the_built_in_model_lacks_are_named(tmp_path: Path, capsys: Shown) -> None:
    data = written(tmp_path / "a.jsonl", json.dumps(GOOD))
    assert check(data, "--model", "documents") == 1
    assert "1 entities have the label PER, which the model lacks: a.jsonl, line 1 PER 0:8" in capsys.readouterr().out


def test_a_model_with_free_labels_lacks_none(tmp_path: Path) -> None:
    assert check(written(tmp_path / "a.jsonl", json.dumps(GOOD)), "--model", HOME / "uni-token-bert") == 0


def test_a_folder_of_forms_becomes_one_file_of_pages(tmp_path: Path, capsys: Shown) -> None:
    for folder in ("annotations", "images"):
        (tmp_path / folder).mkdir()
    for name in ("a", "b"):
        word = {"text": name, "box": [1, 2, 3, 4]}
        form = {
            "form": [{"box": word["box"], "text": name, "label": "answer", "words": [word], "linking": [], "id": 0}]
        }
        written(tmp_path / "annotations" / f"{name}.json", json.dumps(form))
    Image.new("L", (60, 80)).save(tmp_path / "images" / "a.png")
    assert convert(tmp_path / "annotations", tmp_path / "out.jsonl") == 0
    first, second = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())
    assert first == {
        "id": "a",
        "text": "a",
        "pages": [{"width": 60, "height": 80, "words": [{"text": "a", "box": [1, 2, 3, 4]}]}],
        "entities": [{"start": 0, "end": 1, "label": "answer"}],
    }
    assert (second["id"], second["pages"][0]["width"]) == ("b", 3)
    assert "b.json: FUNSD" in (said := capsys.readouterr().err)
    assert said.count("unknown size") == 1
    assert convert(tmp_path / "annotations", tmp_path / "seen.jsonl", "--pictures") == 0
    (found,) = read_sets([tmp_path / "seen.jsonl"])
    assert [each.placed.page_images for each in found.documents if each.placed] == [
        ((tmp_path / "images" / "a.png").read_bytes(),),
        (),
    ]


def test_boxes_are_joined_to_labelled_texts(tmp_path: Path, capsys: Shown) -> None:
    record = {"id": "r/1", "text": "Ida  Berg", "entities": [{"start": 5, "end": 9, "label": "WHO"}], "group": "g"}
    source = written(tmp_path / "a.jsonl", json.dumps(record))
    page = {"id": "r/1", "width": 60, "height": 80, "words": [[0, 3, 1, 2, 30, 12], [5, 9, 40, 2, 50, 12]]}
    boxes = written(tmp_path / "boxes.jsonl", json.dumps(page))
    assert convert(source, tmp_path / "out.jsonl", "--boxes", boxes) == 0
    assert main(["data", "check", str(tmp_path / "out.jsonl")]) == 0
    assert "1 documents, 1 with pages, 1 entities" in capsys.readouterr().out
    joined = json.loads((tmp_path / "out.jsonl").read_text())
    assert joined.pop("pages")[0]["words"][1] == {"text": "Berg", "box": [40, 2, 50, 12]}
    assert joined == record
    assert convert(source, tmp_path / "out.jsonl", "--boxes", written(tmp_path / "none.jsonl", "")) == 1
    assert "1 documents without boxes" in capsys.readouterr().err


def test_a_receipt_has_the_values_of_the_folder_beside_it(tmp_path: Path) -> None:
    for folder in ("box", "entities"):
        (tmp_path / folder).mkdir()
    source = written(tmp_path / "box" / "X1.txt", "1,1,9,1,9,5,1,5,ACME\n")
    Image.new("L", (60, 80)).save(tmp_path / "box" / "X1.jpg")
    written(tmp_path / "entities" / "X1.txt", json.dumps({"company": "ACME"}))
    assert convert(source.parent, tmp_path / "out.jsonl") == 0
    (record,) = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert (record["id"], record["pages"][0]["height"]) == ("X1", 80)
    assert record["entities"] == [{"start": 0, "end": 4, "label": "company"}]
