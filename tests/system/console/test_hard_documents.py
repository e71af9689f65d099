"""Documents that are long, unreadable, half read or hostile, in the console."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pikepdf
import pytest
from playwright.sync_api import Browser, Page, Route

from service.api.problems import STATUS
from service.core.errors import BY_CODE, Overloaded
from tests.support import console_documents as documents
from tests.support.browser import opened
from tests.support.console_page import DONE, ENTITIES, drop, numbers
from tests.support.document_files import simple_docx
from tests.support.ocr_results import HOCR
from tests.support.service import serving, wait_until

TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00. Contact: Jane Doe, jane@acme.example. "


def zipped(name: str) -> bytes:
    """A zip archive with one part of this name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "x")
    return file.getvalue()


def locked(pdf: bytes) -> bytes:
    """The PDF, which opens with a password only."""
    file = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        document.save(file, encryption=pikepdf.Encryption(owner="a", user="b"))
    return file.getvalue()


def test_pages_that_were_not_read_are_said_on_top_and_on_the_page(page: Page) -> None:
    drop(page, "half.pdf", documents.report(1, 12, scanned=1))
    page.wait_for_selector(DONE)
    assert page.inner_text(".notice") == "Page 2 could not be read; at most a heading or a stamp was."
    assert page.inner_text('[data-page="2"] .unread') == "This page could not be read: it is a picture"
    assert page.query_selector('[data-page="1"] .unread') is None


def test_what_was_not_read_of_a_page_is_framed_with_its_reason(page: Page) -> None:
    with page.expect_response(re.compile("/extract")) as answer:
        drop(page, "half a page.pdf", documents.half_a_page())
    page.wait_for_selector(DONE)
    (part,) = answer.value.json()["documents"][0]["partly_read"]
    assert page.inner_text(".notice") == "A part of page 1 could not be read (dashed)."
    assert page.inner_text('[data-page="1"] .unread') == "The dashed part could not be read: it is a picture"
    page.wait_for_selector(".sheet img")
    page.hover(".unread-box")
    assert page.inner_text(".tip") == "Not read\nThis part is a picture."
    framed = page.eval_on_selector(".unread-box", "box => [box.x, box.y].map(each => each.baseVal.value)")
    assert framed == pytest.approx(part["boxes"][0][:2], abs=0.01)
    page.fill("input[type=range]", "1")
    assert not numbers(page, ".box")
    assert page.query_selector(".unread-box"), "filters are for entities"


def test_a_scan_is_refused_with_a_sentence_and_still_shown(page: Page) -> None:
    drop(page, "scan.pdf", documents.scan())
    page.wait_for_selector(".notice.bad")
    sentence = page.inner_text(".notice.bad")
    assert sentence.startswith("This PDF is a scan without a text layer, and OCR is not installed here.")
    assert "ocrmypdf" in sentence
    page.wait_for_selector(".sheet img")
    assert page.is_visible(".side .drop"), "another document can be dropped or chosen"
    assert page.query_selector("#again") is None, "the same scan will be refused again"


INVOICE = documents.sample("invoice.pdf")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAIL = b"From: a@b.example\r\nTo: c@d.example\r\nMIME-Version: 1.0\r\nSubject: x\r\n\r\nHello"
REFUSED = {
    "an archive": (
        "some.zip",
        zipped("a.txt"),
        "An archive is not read as one document. Unpack it, and drop its files",
    ),
    "a gzip archive": ("some.tar.gz", b"\x1f\x8b\x08" + bytes(40), "An archive is not read"),
    "a workbook": (
        "a.xlsx",
        zipped("xl/workbook.xml"),
        "An Excel workbook is not read. Save it as PDF, and drop that.",
    ),
    "slides": ("a.pptx", zipped("ppt/presentation.xml"), "A PowerPoint presentation is not read. Save it as PDF"),
    "an old Word file": (
        "a.doc",
        OLE + "WordDocument".encode("utf-16-le"),
        "A Word document of the old .doc format is",
    ),
    "a mail": ("mail.eml", MAIL, "A mail is not read. Save it as PDF, and drop that; its attachments"),
    "a mail without its type": ("mail", MAIL, "A mail is not read."),
    "a calendar": ("a.ics", b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "Calendars and address books are not read."),
    "a photo of a phone": (
        "a.heic",
        b"\x00\x00\x00\x18ftypheic" + bytes(40),
        "A photo of the kind HEIC or AVIF is not read.",
    ),
    "a picture without OCR": (
        "photo.png",
        b"\x89PNG\r\n\x1a\n" + bytes(900),
        "Pictures are not read here, as OCR is not",
    ),
    "a locked PDF": (
        "locked.pdf",
        locked(INVOICE),
        "This document is locked with a password. Open it, save it without",
    ),
    "a locked Office file": ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "This document is locked with a"),
    "an empty file": ("empty.txt", b"", "This file is empty. Was it saved, or downloaded in full?"),
    "blanks": ("blank.txt", b" \n ", "There is no text in this document that can be read."),
    "hidden text": (
        "a.html",
        b"<p style='display:none'>Jane</p>",
        "There is no text in this document that can be read.",
    ),
    "a web page named PDF": ("a.pdf", b"<html><p>Jane", "Its name says PDF, but its content is something else."),
    "a cut PDF": ("cut.pdf", INVOICE[:900], "This file is damaged. Save or download it anew, and drop that."),
    "a cut DOCX": ("cut.docx", simple_docx("Jane")[:300], "This file is damaged."),
    "a cut hOCR": ("a.hocr", HOCR[:1500].encode(), "This file is damaged."),
    "an hOCR without a box": (
        "a.hocr",
        HOCR.replace("bbox 500 210 900 262", "").encode(),
        "This hOCR file does not say where page 1, word 1 stands.",
    ),
    "a broken answer of Textract": ("a.json", b'{"Blocks": [{"BlockType": "WORD"', "This file is damaged."),
    "other JSON": ("a.json", b'{"a": 1}', "This JSON file is no document: of JSON, Textract"),
    "a program": ("a.xyz", b"\x7fELF" + bytes(90), "A file of this kind is not read. Drop one of these: PDF, DOCX,"),
}
"""What cannot be read: name, bytes, and how what is said of it begins."""


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_is_one_line_for_people_and_offers_the_drop_zone(page: Page, kind: str) -> None:
    name, data, said = REFUSED[kind]
    drop(page, name, data)
    page.wait_for_selector(".start .notice.bad")
    (line,) = page.locator(".notice.bad p").all_inner_texts()
    assert line.startswith(said)
    assert not re.search(r"[`{}]|GLEANER_|\.\)\.", line), "words for programs"
    assert page.query_selector("#again") is None, "the same file will be refused again"
    assert page.query_selector(".sheet") is None, "an empty page stands for it"
    drop(page, "a.txt", b"Ask Jane Doe.")
    page.wait_for_selector(DONE)
    assert page.query_selector(".notice.bad") is None


def test_a_json_file_is_no_request(page: Page) -> None:
    with page.expect_request(re.compile("/extract")) as asked:
        drop(page, "data.json", b'{"text": "Jane Doe"}')
    assert asked.value.headers["content-type"] == "text/json"


TOLD = """async ([code, message]) => (await import("/console/files/failure.js")).told({ code, message, retry: "7" })"""


@pytest.mark.parametrize("code", STATUS)
def test_every_error_has_words_for_people(page: Page, code: str) -> None:
    told = page.evaluate(TOLD, [code, f"{BY_CODE[code].title}."])
    assert re.fullmatch(r"[A-Z][^`{}]+\.", told)
    assert ("in 7 seconds" in told) == (issubclass(BY_CODE[code], Overloaded))


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        (
            "The document has 70,000,000 bytes; the limit is 67,108,864: 1 too many.",
            "This file has 66.8 MiB; 64 MiB are",
        ),
        ("The document has 5,001 pages; the limit is 5,000: 1 too many.", "The document has 5,001 pages; the limit"),
        ("A JSON body may have 16,777,216 bytes. Send a longer text to", "This text is too long to be pasted."),
        ("The picture has 90,000 × 90,000 pixels; the limit is 9.", "The picture has 90,000 × 90,000 pixels;"),
        (
            "900 pages hold text in pictures; the limit is 200 (GLEANER_MAX_OCR_PAGES).",
            "It has 900 scanned pages; text is",
        ),
    ],
)
def test_a_document_over_a_limit_is_told_which_and_what_to_do(page: Page, detail: str, told: str) -> None:
    line = page.evaluate(TOLD, ["document_too_large", detail])
    assert line.startswith(told)
    assert "drop" in line
    assert "GLEANER" not in line


def test_a_damaged_picture_of_a_page_is_told_with_its_page(page: Page) -> None:
    line = page.evaluate(TOLD, ["unreadable_document", "Page 2, image: The picture is damaged (truncated)."])
    assert line.startswith("Page 2, image: The picture is damaged (truncated). Make this picture anew")


def test_what_may_pass_another_time_is_tried_again_by_a_button(page: Page) -> None:
    page.route("**/extract*", lambda route: route.abort())
    page.fill("#words", TEXT)
    page.click(".paste button")
    page.wait_for_selector(".notice.bad")
    assert page.input_value("#words") == TEXT, "what was pasted is lost"
    page.unroute("**/extract*")
    page.click("#again")
    page.wait_for_selector(DONE)


def test_of_a_long_report_only_the_pages_in_view_are_drawn(page: Page) -> None:
    drawn: list[str] = []
    page.on("request", lambda request: drawn.append(request.url) if "/picture" in request.url else None)
    drop(page, "report.pdf", documents.report(60, 3))
    page.wait_for_selector(".entity")
    page.fill(".jump input", "50")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-page="50"] img')
    page.wait_for_selector('[data-page="50"] .box')
    assert page.query_selector('[data-page="20"] img') is None
    assert len(drawn) < 20
    page.check(".filters input[type=checkbox]")
    wait_until(lambda: page.inner_text(".page-head") == "Page 50")


def test_of_a_long_document_the_share_and_the_time_left_are_told(browser: Browser, home: Path) -> None:
    with (
        serving(home, MODELS="tiny", WORKERS=2, PARSERS=1, PACE_TOKENS_PER_SECOND=1_000) as slow,
        opened(browser, slow.url) as page,
    ):
        drop(page, "long.txt", ("from anna smith " * 5_000).encode())
        page.wait_for_selector(".progress.known")
        assert page.inner_text(".body .text").startswith("from anna smith"), "an empty panel while it is read"
        told = r"Looking for entities, \d+ % done, (a few seconds|about \d+ (seconds|minutes)) left …"
        page.wait_for_function(f"() => /^{told}$/.test(document.querySelector('aside [role=status]')?.innerText ?? '')")
        page.wait_for_selector(".entity")
        assert page.query_selector(".progress") is None


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        (12, r"Recognizing the text in 12 pictures, 3 done, .+ …"),
        (1, r"Recognizing the text in 1 picture, for \d+ seconds? now …"),
    ],
)
def test_of_a_scan_the_pictures_that_are_done_are_told(page: Page, pages: int, words: str) -> None:
    held: list[Route] = []
    progress = {"stage": "parse", "windows_done": 0, "windows": 0, "pages_done": pages // 4, "pages": pages}
    page.route("**/extract*", lambda route: held.append(route))
    page.route("**/console/progress/*", lambda route: route.fulfill(json=progress))
    page.fill("#words", TEXT)
    page.click(".paste button")
    page.wait_for_function(f"() => /^{words}$/.test(document.querySelector('aside [role=status]')?.innerText ?? '')")
    assert bool(page.query_selector(".progress.known")) == (pages > 1)
    held[0].continue_()
    page.wait_for_selector(DONE)


def test_a_hostile_document_is_text_and_nothing_else(page: Page) -> None:
    name = '"><img src=x onerror="window.harmed=9">.html'
    drop(page, name, documents.HOSTILE_HTML.encode())
    page.wait_for_selector("mark")
    assert '<img src=x onerror="window.harmed=4">' in page.inner_text(".text")
    assert "<script>window.harmed=5</script>" in page.inner_text(".text")
    assert page.inner_text(".head h1") == name
    assert page.query_selector("#view-document img") is None
    assert page.evaluate("window.harmed") is None


def test_a_label_with_quotes_and_markup_is_text_too(page: Page) -> None:
    label = "\"'><script>window.harmed=1</script>"

    def spoil(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        for entity in body["documents"][0]["entities"][:-1]:
            entity.update(label=label, value="<b onclick=x>", valid=False)
        role = {"text": "1", "value": "<u>1</u>", "score": 0.5, "start": 0, "end": 1, "alternatives": []}
        rule = {"rule": "<s>a = b</s>", "holds": False, "difference": "<b>1</b>"}
        different = {"role": "<tt>iban</tt>", "embedded": "<q>1</q>", "page": {"text": "<p>2"}}
        fields = {
            "kind": "invoice",
            "roles": {"<i>total</i>": role},
            "checks": [rule],
            "embedded": {"contradictions": [different]},
        }
        paper = {"kind": "<em>x</em>", "title": "<b>Bill</b>", "pages": None, "fields": fields}
        body["documents"][0]["papers"] = [paper, {**paper, "fields": None}]
        route.fulfill(response=answer, json=body)

    page.route("**/extract*", spoil)
    page.fill("#words", TEXT)
    page.click(".paste button")
    page.wait_for_selector(DONE)
    for shown in (
        "<em>x</em>",
        "<b>Bill</b>",
        "<i>total</i>",
        "<u>1</u>",
        "<s>a = b</s>",
        "<b>1</b>",
        "<q>1</q>",
        "<p>2",
    ):
        assert shown in page.inner_text(".fields")
    page.click(ENTITIES)
    assert label in page.inner_text(".entity")
    assert "not valid" in page.inner_text(".entity")
    page.hover("mark")
    assert label in page.inner_text(".tip")
    last = max(numbers(page, ".entity"))
    page.click(".chip")
    assert numbers(page, ".entity") == {last}
    assert page.evaluate("window.harmed") is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "a few seconds left"),
        (52, "about 50 seconds left"),
        (100, "about 2 minutes left"),
        (1_790, "about 30 minutes left"),
        (None, ""),
    ],
)
def test_the_time_left_is_told_in_round_words(page: Page, seconds: int | None, words: str) -> None:
    left = """async (seconds) => (await import("/console/files/progress.js")).left(seconds ?? Infinity)"""
    assert page.evaluate(left, seconds) == words
