"""Documents that are long, unreadable, half read or hostile, in the console."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.support import console_documents as documents
from tests.support.browser import opened
from tests.support.console_page import DONE, ENTITIES, drop, numbers
from tests.support.service import serving, wait_until

TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00. Contact: Jane Doe, jane@acme.example. "
VIEWS = ("document", "compare", "requests", "live")


def test_pages_that_were_not_read_are_said_on_top_and_on_the_page(page: Page) -> None:
    drop(page, "half.pdf", documents.report(1, 12, scanned=1))
    page.wait_for_selector(DONE)
    assert page.inner_text(".notice") == "Page 2: not read, but for a stamp or a heading at most."
    assert page.inner_text('[data-page="2"] .unread') == "Not read: this page is a picture"
    assert page.query_selector('[data-page="1"] .unread') is None


def test_what_was_not_read_of_a_page_is_framed_with_its_reason(page: Page) -> None:
    with page.expect_response(re.compile("/extract")) as answer:
        drop(page, "half a page.pdf", documents.half_a_page())
    page.wait_for_selector(DONE)
    (part,) = answer.value.json()["documents"][0]["partly_read"]
    assert page.inner_text(".notice") == "Page 1: not read in part, which is a picture."
    assert page.inner_text('[data-page="1"] .unread') == "Partly read; the dashed part is a picture"
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
    assert sentence.startswith("The PDF has no text layer")
    assert sentence.endswith(".")
    page.wait_for_selector(".sheet img")
    assert "ocrmypdf" in page.inner_text(".notice.bad")
    assert page.is_visible(".side .drop"), "another document can be dropped or chosen"
    assert page.query_selector("#again") is None, "the same scan will be refused again"


@pytest.mark.parametrize(
    ("name", "data", "said", "next_step"),
    [
        (
            "photo.png",
            b"\x89PNG\r\n\x1a\n" + bytes(900),
            "PNG image is read by",
            "Save it as PDF, DOCX",
        ),
        ("archive.zip", b"PK\x03\x04" + bytes(900), "", "drop"),
        ("empty.txt", b"", "empty", "Drop another document"),
    ],
)
def test_an_error_offers_the_next_step_and_the_drop_zone(
    page: Page, name: str, data: bytes, said: str, next_step: str
) -> None:
    drop(page, name, data)
    page.wait_for_selector(".notice.bad")
    assert said in page.inner_text(".notice.bad p >> nth=0")
    assert next_step in page.inner_text(".notice.bad p >> nth=1")
    assert page.is_visible(".drop")
    page.set_input_files("input[type=file]", files=[{"name": "a.txt", "mimeType": "", "buffer": b"Ask Jane Doe."}])
    page.wait_for_selector(DONE)
    assert page.query_selector(".notice.bad") is None


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
