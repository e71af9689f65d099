"""/redact and the Python client over real HTTP: with the same limits and keys as /extract."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Sequence
from typing import Any

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader

from gleaner import Client, FileSource, RequestError
from service.api.redaction.answers import page_ranges
from service.documents.redaction.values import Range, RedactedFile, Redaction
from tests.support.document_files import drawn, simple_docx, simple_pdf
from tests.support.extraction import TEXT, assert_problem
from tests.support.parsers import PoolSetup, pool_of
from tests.support.redacted_pdfs import left_of
from tests.support.service import Service

LINE = "Anna Smith paid the invoice in Berlin"
LATE = ((422, "too_long_for_deadline"), (504, "deadline_exceeded"))
"""Answers to a deadline that cannot be kept: known before, by the engine's speed, or when it has passed."""


def test_a_text_comes_back_without_its_entities(service: Service) -> None:
    with Client(service.url) as client:
        found = client.extract(TEXT)
        made = client.redact(TEXT, repeats=False, offsets="utf16")
        other = client.redact(TEXT, mode="hash", include_text=True)
    assert found.entities, "the tiny model finds something in this text"
    assert made.text is not None
    units = made.text.encode("utf-16-le")
    for part in made.entities:
        assert part.new_start is not None
        assert part.new_end is not None
        assert units[2 * part.new_start : 2 * part.new_end].decode("utf-16-le") == part.replacement == f"<{part.label}>"
    assert (other.original_text, [part.text for part in other.entities if part.text is None]) == (TEXT, [])


def test_a_pdf_comes_back_without_them_and_says_what_went(service: Service) -> None:
    data = simple_pdf(LINE, "another line")
    with Client(service.url) as client:
        text = client.extract(FileSource(data, "a.pdf"), include_text=True).text
        made = client.redact(FileSource(data, "a.pdf"))
    assert text is not None
    assert made.file is not None
    assert made.entities
    assert all(part.page == 1 and part.boxes for part in made.entities)
    assert left_of(made.file.data, *(text[part.start : part.end] for part in made.entities)) == {}


def test_raw_is_the_document_itself(service: Service) -> None:
    data = simple_pdf(LINE)
    with service.client() as client:
        files = {"file": ("a.pdf", data)}
        first = client.post("/redact", files=files, data={"raw": "true"})
        report = client.post("/redact", files=files)
    assert first.headers["content-type"] == "application/pdf"
    assert first.content.startswith(b"%PDF")
    assert base64.b64decode(report.json()["documents"][0]["file"]["data"]) == first.content


def test_raw_names_the_pages_that_were_not_read(service: Service) -> None:
    def draw(canvas: Any) -> None:
        for page in range(1, 7):
            canvas.drawString(60, 760, LINE)
            if page in (2, 4, 5):
                canvas.drawImage(ImageReader(scan), 0, 0, 600, 700)
            canvas.showPage()

    scan = Image.new("L", (600, 700), 250)
    for row in range(100, 600, 15):
        ImageDraw.Draw(scan).text((60, row), "A line of a scanned letter that says who lives where", fill=20)
    raw = {"raw": "true", "ocr": "off"}
    read, unread = {"file": ("a.pdf", simple_pdf(LINE))}, {"file": ("b.pdf", drawn(draw))}
    with service.client() as client:
        allowed = client.post("/redact", files=unread, data={**raw, "allow_unread": "true"})
        text = client.post("/redact", files=unread, data={**raw, "output": "text"})
        complete = client.post("/redact", files=read, data={"raw": "true"})
        assert_problem(client.post("/redact", files=unread, data=raw), 422, "unredactable_document", "output=text")
    assert [each.headers.get("X-Gleaner-Unread-Pages") for each in (allowed, text, complete)] == [
        "2,4-5",
        "2,4-5",
        None,
    ]


@pytest.mark.parametrize(
    ("pages", "written"),
    [
        ([], ""),
        ([3], "3"),
        ([1, 2, 3, 7, 9, 10], "1-3,7,9-10"),
        (range(2, 5001, 2), f"{','.join(map(str, range(2, 200, 2)))},200-5000"),
    ],
)
def test_a_header_of_pages_is_short(pages: Sequence[int], written: str) -> None:
    assert page_ranges(pages) == written


def test_what_cannot_be_redacted_is_refused_with_a_reason(service: Service) -> None:
    with service.client() as client:
        docx = {"file": ("a.docx", simple_docx(LINE))}
        assert_problem(client.post("/redact", files=docx), 415, "unsupported_format", "output=text")
        text = client.post("/redact", files=docx, data={"output": "text", "raw": "true"})
        two = client.post("/redact", json={"documents": [{"text": "a"}, {"text": "b"}], "raw": True})
        assert_problem(two, 422, "invalid_options", "raw")
        assert_problem(client.post("/redact", json={"text": "a", "mood": 1}), 422, "invalid_options", "mode")
        assert_problem(client.post("/extract", json={"text": "a", "mode": "mask"}), 422, "invalid_options", "mode")
        broken = client.post("/redact", files={"file": ("b.pdf", b"%PDF-1.7\nnothing")})
        assert_problem(broken, 422, "unreadable_document")
        late = client.post("/redact", json={"text": TEXT * 50, "deadline_ms": 1})
        assert (late.status_code, late.json()["code"]) in LATE
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    with Client(service.url) as ours, pytest.raises(RequestError):
        ours.redact(FileSource(b"%PDF-1.7\nnothing", "b.pdf"))


def test_one_bad_document_does_not_fail_its_neighbours(service: Service) -> None:
    with Client(service.url) as client:
        made = client.redact_batch([FileSource(simple_pdf(LINE), "a.pdf"), FileSource(b"", "b.pdf")])
    assert made.documents[0].error is None
    assert made.documents[1].error is not None
    assert made.documents[1].error.code == "unreadable_document"


def test_a_file_is_rewritten_in_a_parser() -> None:
    setup = PoolSetup()
    went = Redaction((Range(0, 10, "Anna Smith"),), ("Anna Smith",))

    async def redact() -> RedactedFile:
        async with pool_of(setup) as pool:
            deadline = time.monotonic() + 60
            return await pool.redact(simple_pdf(LINE), None, "a.pdf", went, client="a", deadline_seconds=deadline)

    made = asyncio.run(redact())
    assert left_of(made.data, "Anna Smith") == {}
    assert (made.pages[0].method, setup.deaths) == ("rewritten", 0)
