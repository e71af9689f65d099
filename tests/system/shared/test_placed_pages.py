"""Documents of words with boxes over real HTTP: what a text answers, with the words of each entity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gleaner import BoxedWord, Client, PageOfWords, PagesSource
from service.cli import main
from tests.support.extraction import TEXT, assert_problem, placed_page
from tests.support.ocr_results import ALTO, HOCR, SIZE, WORDS, textract
from tests.support.service import Service

PAGES = [placed_page(TEXT, "Berlin"), placed_page("Anna Smith paid", unit=0.001)]
PAGE = b'{"pages": [{"width": 1, "height": 1, "words": [{"text": "a", "box": %b}]}]}'
JOINED = f"{TEXT}\nBerlin\n\nAnna Smith paid"


def extract(service: Service, **body: Any) -> dict[str, Any]:
    found: dict[str, Any] = httpx.post(service.url + "/extract", json=body, timeout=240.0).json()["documents"][0]
    return found


@pytest.mark.parametrize("options", [{}, {"offsets": "utf16"}, {"offsets": "byte"}, {"min_score": 0.3}])
def test_pages_are_answered_as_their_text_with_words(service: Service, options: dict[str, Any]) -> None:
    read = extract(service, pages=PAGES, include_text=True, **options)
    text = extract(service, text=JOINED, **options)
    assert (read["text"], read["pages"], read["page_sizes"]) == (JOINED, 2, [[595, 842], [0.595, 0.842]])
    same = ("label", "text", "start", "end", "score", "value")
    assert [[each[name] for name in same] for each in read["entities"]] == [
        [each[name] for name in same] for each in text["entities"]
    ]
    assert read["entities"]
    for each in read["entities"]:
        first, end = each["words"]
        words = PAGES[each["page"] - 1]["words"][first:end]
        if "\n" not in each["text"]:
            assert " ".join(word["text"] for word in words) == each["text"]
            (box,) = each["boxes"]
            assert (box[0], box[2]) == (words[0]["box"][0], words[-1]["box"][2])
    assert all("words" not in each for each in text["entities"])


def test_a_batch_has_pages_and_texts_each_with_its_own_error(service: Service) -> None:
    bad = {"width": 5, "height": 5, "words": [{"text": "a", "box": [0, 0, 9, 1]}]}
    documents = [{"id": "p", "pages": PAGES}, {"text": TEXT}, {"id": "b", "pages": [bad]}, {"pages": []}]
    answer = httpx.post(service.url + "/extract", json={"documents": documents}, timeout=240.0)
    found = answer.json()["documents"]
    assert answer.status_code == 200
    assert [each["id"] for each in found] == ["p", "1", "b", "3"]
    codes = [each["error"] and each["error"]["code"] for each in found]
    assert codes == [None, None, "unreadable_document", "unreadable_document"]
    assert "page 1, word 0" in found[2]["error"]["detail"]
    lines = httpx.post(
        service.url + "/extract", json={"documents": documents}, headers={"Accept": "application/x-ndjson"}
    ).text.splitlines()
    streamed = {line["document"]["id"]: line["document"] for line in map(json.loads, lines)}
    assert streamed["p"]["entities"] == found[0]["entities"]


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        (PAGE % b"[0, 0, NaN, 1]", 400, "malformed_request", "JSON"),
        (PAGE % b"[0, 0, 1e400, 1]", 400, "malformed_request", "page 1, word 0"),
        (PAGE % b"[0, 1, 1, 0]", 422, "unreadable_document", "reversed"),
        (b'{"pages": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", 400, "malformed_request", "nested"),
        (b'{"pages": [], "text": "a"}', 400, "malformed_request", "either"),
        (b'{"pages": "\xff"}', 400, "malformed_request", "pages: Expected"),
    ],
)
def test_pages_that_cannot_be_read_are_refused(
    service: Service, body: bytes, status: int, code: str, words: str
) -> None:
    answer = httpx.post(service.url + "/extract", content=body, headers={"Content-Type": "application/json"})
    assert_problem(answer, status, code, words)


def test_ten_thousand_words_are_answered_and_too_many_are_refused(service: Service) -> None:
    def page(count: int) -> dict[str, Any]:
        words = [{"text": "Anna", "box": [i % 100, i // 100, i % 100 + 1, i // 100 + 1]} for i in range(count)]
        return {"width": 100, "height": 600, "words": words}

    found = extract(service, pages=[page(10_000)])
    assert [each["words"] for each in found["entities"]][-1][1] == 10_000
    answer = httpx.post(service.url + "/extract", json={"pages": [page(50_001)]}, timeout=240.0)
    assert_problem(answer, 413, "document_too_large", "page 1", "50,000 words")


def test_redacted_pages_are_their_text_and_say_which_words_went(service: Service) -> None:
    answer = httpx.post(service.url + "/redact", json={"pages": PAGES, "repeats": False}, timeout=240.0)
    (made,) = answer.json()["documents"]
    found = extract(service, pages=PAGES)["entities"]
    assert made["text"].count("<") == len(made["entities"]) > 0
    assert [(each["page"], each["words"], each["boxes"]) for each in made["entities"]] == [
        (each["page"], each["words"], each["boxes"]) for each in found
    ]


def test_the_client_sends_pages_and_reads_their_words(service: Service) -> None:
    words = [BoxedWord(each["text"], tuple(each["box"])) for each in PAGES[0]["words"]]
    page = PageOfWords(PAGES[0]["width"], PAGES[0]["height"], words)
    with Client(service.url) as client:
        found = client.extract(PagesSource([page, PAGES[1]], "p"))
        redacted = client.redact(PagesSource(PAGES), repeats=False)
    expected = [tuple(each["words"]) for each in extract(service, pages=PAGES)["entities"]]
    assert found.id == "p"
    assert [each.words for each in found.entities] == [each.words for each in redacted.entities] == expected


def test_a_file_of_pages_is_read_like_the_request(service: Service) -> None:
    file = ("a.json", json.dumps({"pages": PAGES}).encode())
    answer = httpx.post(service.url + "/extract", files={"file": file}, timeout=240.0)
    assert answer.json()["documents"][0]["entities"] == extract(service, pages=PAGES)["entities"]


RESULTS = {
    "scan.hocr": HOCR.encode(),
    "scan.xml": ALTO.format(version=3, unit="mm10", size=SIZE).encode(),
    "scan.json": json.dumps(textract(*WORDS)).encode(),
}


def test_results_of_ocr_programs_are_pages_at_every_door(service: Service, tmp_path: Path, capsys: Any) -> None:
    for name, data in RESULTS.items():
        (tmp_path / name).write_bytes(data)
    assert main(["extract", "--url", service.url, "--json", "--include-text", *map(str, tmp_path.iterdir())]) == 0
    found = {Path(line["file"]).name: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found.keys() == RESULTS.keys()
    assert found["scan.json"]["text"] == "Invoice INV-1\nTotal"
    for name, data in RESULTS.items():
        asked: dict[str, Any] = {"files": {"file": (name, data)}, "data": {"include_text": "true"}, "timeout": 60.0}
        (document,) = httpx.post(service.url + "/extract", **asked).json()["documents"]
        assert document["entities"] == found[name]["entities"]
        assert all(each["words"][0] < each["words"][1] for each in document["entities"])
        forced = httpx.post(service.url + "/redact", files={"file": (name, data)}, timeout=240.0)
        assert_problem(forced, 415, "unsupported_format", "output=text")
        asked["data"] = {"output": "text", "repeats": "false"}
        (redacted,) = httpx.post(service.url + "/redact", **asked).json()["documents"]
        assert [each["words"] for each in redacted["entities"]] == [each["words"] for each in document["entities"]]
