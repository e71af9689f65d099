"""Every kind of real answer fits /openapi.json, which has no member too many and none too few."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.support.document_files import simple_docx, simple_pdf
from tests.support.extraction import TEXT, placed_page
from tests.support.openapi_answers import assert_fits
from tests.support.service import Service

PDF = ("a.pdf", simple_pdf("Anna Smith paid"), "application/pdf")
PAGES = [placed_page(TEXT)]
LINES = {"Accept": "application/x-ndjson"}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a text": ("/extract", {"json": {"text": TEXT}}),
    "its text and fields": ("/extract", {"json": {"text": TEXT, "include_text": True, "fields": True}}),
    "a batch": ("/extract", {"json": {"documents": [{"text": TEXT}, {"id": "b", "text": "Berlin"}]}}),
    "a batch with a bad text": ("/extract", {"json": {"documents": [{"text": TEXT}, {"text": 5}, {}]}}),
    "lines": ("/extract", {"json": {"documents": [{"text": TEXT}, {"text": "Berlin"}]}, "headers": LINES}),
    "pages of words": ("/extract", {"json": {"pages": PAGES, "include_text": True, "fields": True}}),
    "a batch with pages": ("/extract", {"json": {"documents": [{"id": "p", "pages": PAGES}, {"pages": [{}]}]}}),
    "redacted pages": ("/redact", {"json": {"pages": PAGES}}),
    "bad pages": ("/extract", {"json": {"pages": [{"width": 0, "height": 1, "words": []}]}}),
    "a form": ("/extract", {"files": [("file", PDF), ("file", ("b.png", b"\x89PNG\r\n\x1a\n", "image/png"))]}),
    "a PDF": ("/extract", {"content": PDF[1], "headers": {"Content-Type": PDF[2]}}),
    "a DOCX": ("/extract", {"files": {"file": ("a.docx", simple_docx("Anna Smith paid"))}}),
    "HTML": ("/extract", {"content": b"<p>Anna Smith paid", "headers": {"Content-Type": "text/html"}}),
    "a redacted text": ("/redact", {"json": {"text": TEXT, "include_text": True}}),
    "a redacted batch": ("/redact", {"json": {"documents": [{"text": TEXT}], "mode": "hash"}}),
    "a redacted PDF": ("/redact", {"content": PDF[1], "headers": {"Content-Type": PDF[2]}}),
    "a redacted form": ("/redact", {"files": {"file": ("a.docx", simple_docx("Anna"))}, "data": {"output": "text"}}),
    "no JSON": ("/extract", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
    "an unknown model": ("/extract", {"json": {"text": TEXT, "model": "nobody"}}),
    "too many documents": ("/extract", {"json": {"documents": [{"text": "a"}] * 1_001}}),
    "a picture": ("/extract", {"content": b"\x89PNG\r\n\x1a\n", "headers": {"Content-Type": "image/png"}}),
    "an unknown option": ("/redact", {"json": {"text": TEXT, "colour": 1}}),
    "a missed deadline": ("/extract", {"json": {"text": TEXT * 20_000, "deadline_ms": 1}}),
}


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.get("/openapi.json").json()
    return found


@pytest.mark.parametrize("kind", REQUESTS)
def test_an_answer_to_a_post_is_described_in_full(service: Service, document: dict[str, Any], kind: str) -> None:
    path, request = REQUESTS[kind]
    assert_fits(document, httpx.post(service.url + path, timeout=120.0, **request), path)


@pytest.mark.parametrize("path", ["/models", "/readyz", "/livez"])
def test_an_answer_to_a_get_is_described_in_full(service: Service, document: dict[str, Any], path: str) -> None:
    assert_fits(document, service.get(path), path)


def test_a_page_size_tells_where_boxes_lie(service: Service) -> None:
    answer = httpx.post(service.url + "/extract", content=PDF[1], headers={"Content-Type": PDF[2]}, timeout=240.0)
    (found,) = answer.json()["documents"]
    ((width, height),) = found["page_sizes"]
    boxes = [box for entity in found["entities"] for box in entity["boxes"]]
    assert boxes
    assert all(0 <= left < right <= width and 0 <= top < bottom <= height for left, top, right, bottom in boxes)
    assert "page_sizes" not in service.extract(text=TEXT).json()["documents"][0]


def test_a_member_that_nobody_described_would_be_seen(service: Service, document: dict[str, Any]) -> None:
    answer = service.extract(text=TEXT)
    changed = {**answer.json(), "colour": "red"}
    forged = httpx.Response(200, json=changed, request=httpx.Request("POST", answer.url))
    with pytest.raises(AssertionError, match="colour"):
        assert_fits(document, forged, "/extract")
    lacking = {"documents": answer.json()["documents"], "timing": json.loads("{}")}
    with pytest.raises(AssertionError, match="required"):
        assert_fits(document, httpx.Response(200, json=lacking, request=forged.request), "/extract")
