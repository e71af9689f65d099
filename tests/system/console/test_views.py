"""The console's other views, and what holds for all: requests, live, compare, access, keys, a phone's width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from service.documents.format_detection import ENDINGS, SUPPORTED
from tests.support import console_documents as documents
from tests.support.browser import faults, opened
from tests.support.console_page import sample
from tests.support.service import Service, serving, wait_until

TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00. Contact: Jane Doe, jane@acme.example. "
VIEWS = ("document", "compare", "requests", "live")


def test_at_rest_the_live_view_says_so_and_shows_no_empty_chart(page: Page) -> None:
    page.click('.tabs [href="#live"]')
    page.wait_for_selector("#view-live[data-now]")
    page.wait_for_selector("#view-live .charts >> nth=0", state="hidden")
    assert page.is_hidden(".timeline")
    assert "Nothing is asked for now" in page.inner_text("#view-live")
    assert page.inner_text(".tile >> nth=0").split("\n") == ["What is wrong", "Nothing", "ready, nothing to compute"]


def test_the_waterfall_of_a_request_adds_up_whichever_worker_is_asked(page: Page, service: Service) -> None:
    sample(page, "invoice.pdf")
    page.click(".facts a")
    page.wait_for_selector(".stages")
    parts = page.eval_on_selector_all(".stages tbody [data-ms]", "nodes => nodes.map(node => Number(node.dataset.ms))")
    total = float(str(page.get_attribute(".stages .total", "data-ms")))
    assert sum(parts) == pytest.approx(total, abs=0.05)
    stages = page.inner_text(".stages")
    for stage in ("Receive", "Parse", "Tokenize", "Batch", "Decode", "Answer"):
        assert stage in stages
    assert "1 sequence of 1 document" in page.inner_text(".batches")
    request = str(page.get_attribute("#view-document", "data-request"))
    for _ in range(8):
        known = service.get(f"/console/requests/{request}").raise_for_status().json()
        assert known["total_ms"] == total
        assert request in {each["id"] for each in service.get("/console/requests").json()}


def test_every_request_that_failed_has_its_code_and_its_whole_id(page: Page, service: Service) -> None:
    two = [("file", ("a.png", b"\x89PNG\r\n\x1a\n00")), ("file", ("b.txt", b"Jane Doe"))]
    with service.client() as client:
        answers = [
            client.post("/extract", json={"text": "Jane", "colour": 1}),
            client.post("/extract", json={"text": "Jane", "model": "nobody"}),
            client.post("/extract", content=b"{", headers={"Content-Type": "application/json"}),
            client.post("/extract", content=b"\x89PNG\r\n\x1a\n00", headers={"Content-Type": "image/png"}),
            client.get("/extract"),
            client.post("/extract", files=two),
        ]
    page.click('.tabs [href="#requests"]')
    page.wait_for_selector(".recent tbody tr")
    rows = {
        row.locator("a").get_attribute("title"): row.locator(".outcome").inner_text()
        for row in page.locator(".recent tbody tr").all()
    }
    for answer in answers[:-1]:
        assert rows[answer.headers["x-request-id"]] == f"{answer.status_code} {answer.json()['code']}"
    assert rows[answers[-1].headers["x-request-id"]] == "200 ok, but 1 of 2: unsupported_format"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click(".recent a >> nth=0")
    page.click(".copy-id >> nth=0")
    page.wait_for_selector('.copy-id >> text="Copied"')
    assert page.evaluate("navigator.clipboard.readText()") in rows


def test_a_request_that_nobody_knows_is_a_sentence(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/#requests/nobody%2Fknows")
    page.wait_for_selector(".notice.bad")
    assert page.inner_text(".notice.bad").startswith("No request of this id is remembered")


@contextmanager
def load(service: Service) -> Iterator[None]:
    """Two clients that post until the context ends: little at a time, so that a slow device runs many batches too."""
    body = {"documents": [{"text": TEXT} for _ in range(2)]}
    going = True

    def post() -> None:
        with httpx.Client(base_url=service.url, timeout=240.0) as client:
            while going:
                client.post("/extract", json=body).raise_for_status()

    with ThreadPoolExecutor(2) as threads:
        posting = [threads.submit(post) for _ in range(2)]
        try:
            yield
        finally:
            going = False
            for each in posting:
                each.result()


def live_seconds(page: Page) -> float:
    """The moment of the engine that is shown."""
    return float(str(page.get_attribute("#view-live", "data-now")))


def test_live_values_move_under_load(page: Page, service: Service) -> None:
    assert service.extract(text=TEXT * 100_000, deadline_ms=5_000).json()["code"] == "too_long_for_deadline"
    page.click('.tabs [href="#live"]')
    page.wait_for_selector("#view-live[data-now]")
    tiles = page.locator(".tile dd:first-of-type").all_inner_texts()
    assert not {"0", "–", "0.0 s"} & set(tiles), "a tile says nothing at rest"
    before = live_seconds(page)
    with load(service):
        wait_until(lambda: live_seconds(page) > before)
        page.wait_for_selector(".timeline .batch[data-batch] >> nth=2")
        wait_until(lambda: float(page.inner_text(".legend b >> nth=0")) > 0.05)
        assert "anonymous" in page.inner_text(".last")
        page.wait_for_selector(".timeline .batch.running", state="attached")
        wait_until(lambda: int(page.inner_text("[data-tile=busy]").removesuffix(" %")) > 10)
        wait_until(lambda: shows_a_batch(page))
    names = page.eval_on_selector_all(".mark-name", "nodes => nodes.map(node => node.textContent)")
    assert names == ["shrink 0.4", "aim 0.7", "grow fast 0.85"]
    assert "too_long_for_deadline" in page.inner_text("#view-live")
    assert "documents@stable" in page.inner_text("#view-live")
    assert "tiny@stable" in page.inner_text("#view-live")


def shows_a_batch(page: Page) -> bool:
    """Point at the newest batch, which may be drawn anew before the browser notices; what is said of it."""
    page.hover(".timeline .batch[data-batch] >> nth=-1", force=True)
    return "Batch" in "".join(page.locator(".tip").all_inner_texts())


@pytest.mark.parametrize(("code", "shown"), [("queue_full", "Refuses work"), ("too_long_for_deadline", "Nothing")])
def test_the_first_tile_of_the_live_view_says_what_is_wrong(
    page: Page, service: Service, code: str, shown: str
) -> None:
    with service.client() as client, client.stream("GET", "/console/live") as answer:
        states = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
        state = next(each for each in states if "engine" in each)
    events = ""
    for number in (1, 3):
        state["engine"]["refusals"] = [{"code": code, "documents": number, "detail": "busy"}]
        events += f"data: {json.dumps(state)}\n\n"
    page.route("**/console/live", lambda route: route.fulfill(body=events, content_type="text/event-stream"))
    page.click('.tabs [href="#live"]')
    page.wait_for_selector('[data-tile="refused"] >> text="3 documents"')
    assert page.inner_text('[data-tile="wrong"] >> nth=0') == shown
    assert (f"2 documents of late: {code}" in page.inner_text(".tile >> nth=0")) == (shown != "Nothing")


WRONG = """async (state) => (await import("/console/files/live_view.js")).troubles(state, []).map(([what]) => what)"""


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, []),
        ({"phase": "loading", "engine": None}, ["Loading models"]),
        ({"engine": None}, ["No engine"]),
        ({"models": [{"name": "own", "problem": "an example failed"}]}, ["Model own"]),
        (
            {"engine": {"work_ratios": {"tokenize": 0.9}, "load": {"tokens": 90}}},
            ["Near its limit", "Queue nearly full"],
        ),
        ({"engine": {"work_ratios": {"compute": 1.4}, "load": {"tokens": 0}}}, ["Too much work"]),
    ],
)
def test_what_is_wrong_is_told_the_worst_first(page: Page, change: dict[str, Any], wrong: list[str]) -> None:
    fine = {
        "phase": "ready",
        "detail": "",
        "models": [{"name": "documents", "problem": None}],
        "thresholds": {"step": 0.85},
        "queue_limit_tokens": 100,
        "engine": {"work_ratios": {"compute": 0.3}, "load": {"tokens": 0}},
    }
    assert page.evaluate(WRONG, {**fine, **change}) == wrong


def test_compare_says_what_it_is_for_and_what_to_choose(page: Page) -> None:
    page.click('.tabs [href="#compare"]')
    assert "take the place" in page.inner_text(".compare-head p >> nth=0")
    assert page.is_disabled("#view-compare button.primary >> nth=0"), "there is no document yet"
    assert page.is_visible("#view-compare .drop"), "a page of void"
    assert "A finds it, B does not" in page.inner_text("#view-compare .work")
    first, second = (page.input_value(f".side-choice select >> nth={number}") for number in (0, 1))
    assert first != second
    assert page.inner_text(".compare-hint") == ""
    page.select_option(".side-choice select >> nth=1", first)
    assert "are the same" in page.inner_text(".compare-hint")
    page.set_input_files("#view-compare input[type=file]", documents.SAMPLES / "offer.html")
    page.wait_for_selector("#view-compare[data-compared]")


def test_the_document_shows_before_it_is_compared(page: Page) -> None:
    sample(page, "invoice.pdf")
    page.click('.tabs [href="#compare"]')
    page.wait_for_selector("#view-compare .sheet img")
    assert "invoice.pdf" in page.inner_text(".compare-head")


def test_two_models_are_compared_on_one_document(page: Page, service: Service) -> None:
    sample(page, "invoice.pdf")
    page.click('.tabs [href="#compare"]')
    page.select_option(".side-choice select >> nth=1", "tiny@stable")
    page.click("#view-compare button.primary")
    page.wait_for_selector("#view-compare[data-compared]")
    a, b = (found(service, model) for model in ("documents", "tiny"))
    shown = page.inner_text("#view-compare .chips").splitlines()
    alone = [one for one in a if not any(touches(one, other) for other in b)]
    assert (f"Only in A {len(alone)}" in shown) == bool(alone)
    new = [one for one in b if not any(touches(one, other) for other in a)]
    assert (f"Only in B {len(new)}" in shown) == bool(new)
    assert any(each.startswith("Differs ") for each in shown)
    assert f"{len(a)} entities" in page.inner_text(".compare-facts").replace(",", "")
    page.select_option(".side-choice select >> nth=1", label="Another revision …")
    assert page.is_disabled("#view-compare button.primary"), "it has no name yet"
    page.fill(".side-choice input >> nth=1", "nobody")
    page.click("#view-compare button.primary")
    page.wait_for_selector("#view-compare .notice.bad")
    assert "no longer served" in page.inner_text("#view-compare .notice.bad")


def found(service: Service, model: str) -> list[dict[str, Any]]:
    with service.client() as client:
        kind = {"Content-Type": "application/pdf"}
        answer = client.post(f"/extract?model={model}", content=documents.sample("invoice.pdf"), headers=kind)
    entities: list[dict[str, Any]] = answer.raise_for_status().json()["documents"][0]["entities"]
    return entities


def touches(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["start"] < other["end"] and other["start"] < one["end"])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_fault_in_any_view(browser: Browser, service: Service, dark: bool) -> None:
    with opened(browser, service.url, dark=dark) as page:
        assert faults(page) == []
        sample(page, "invoice.pdf")
        assert faults(page) == []
        page.click("#copy")
        assert faults(page) == []
        page.keyboard.press("Escape")
        page.click(".facts a")
        page.wait_for_selector(".stages")
        assert faults(page) == []
        page.click('.tabs [href="#compare"]')
        page.click("#view-compare button.primary")
        page.wait_for_selector("#view-compare[data-compared]")
        assert faults(page) == []
        page.click('.tabs [href="#live"]')
        page.wait_for_selector("#view-live[data-now]")
        assert faults(page) == []


def test_a_phone_s_width_is_enough(browser: Browser, service: Service) -> None:
    with opened(browser, service.url, width=390, height=844) as page:
        sample(page, "resume.pdf")
        for view in VIEWS:
            page.click(f'.tabs [href="#{view}"]')
            page.wait_for_selector(f"#view-{view}:visible h1")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, f"{view} is {wide} pixels wide"
            assert page.is_visible("header .docs"), "the API's documentation is one click away"


def test_on_a_phone_nothing_scrolls_within_the_page(browser: Browser, service: Service) -> None:
    with opened(browser, service.url, width=390, height=844) as page:
        sample(page, "invoice.pdf")
        panels = ("document", ".side"), ("document", ".fields"), ("requests", ".recent")
        for view, panel in panels:
            page.click(f'.tabs [href="#{view}"]')
            page.wait_for_selector(f"{panel}:visible")
            high, shown = page.eval_on_selector(panel, "node => [node.scrollHeight, node.clientHeight]")
            assert high <= shown + 1, f"{panel} hides {high - shown} pixels"
        assert faults(page) == []


@pytest.mark.parametrize("width", [390, 1_280])
def test_all_columns_of_the_requests_are_in_sight(browser: Browser, service: Service, width: int) -> None:
    service.extract(text=TEXT, model="nobody")
    with opened(browser, f"{service.url}/#requests", width=width, height=800) as page:
        page.wait_for_selector(".recent tbody tr")
        wide, shown = page.eval_on_selector(".recent", "node => [node.scrollWidth, node.clientWidth]")
        assert wide <= shown
        assert page.locator(".recent th").all_inner_texts()[-1] == "Total"


def test_where_keys_are_needed_the_console_asks_for_one(browser: Browser, home: Path) -> None:
    digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # Of `secret`.
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, API_KEYS=f"ada {digest}") as locked:
        assert locked.get("/console/live").status_code == locked.get("/console/requests").status_code == 401
        with opened(browser, locked.url) as page:
            page.wait_for_selector("#key[open]")
            assert "gives you one" in page.inner_text("#key-why")
            assert "`" not in page.inner_text("#key"), "the API's words for programs"
            page.fill("#key-value", "wrong")
            page.click("#key button")
            page.wait_for_selector("#key[open]")
            assert "not known" in page.inner_text("#key-why")
            page.fill("#key-value", "secret")
            page.click("#key button")
            page.wait_for_selector("#key:not([open])", state="attached")
            page.fill("#words", TEXT)
            page.click(".paste button")
            page.wait_for_selector("#copy:not([disabled])")
            page.click("#copy")
            page.click("[role=tab] >> text=curl")
            assert "$GLEANER_KEY" in page.inner_text("dialog pre")
            assert "secret" not in page.inner_text("dialog pre")


def test_a_closed_console_asks_for_no_key(browser: Browser, home: Path) -> None:
    with (
        serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, HOST="0.0.0.0") as closed,
        opened(browser, closed.url) as page,
    ):
        page.wait_for_selector("#key[open]")
        assert page.inner_text("#key h2") == "The console is closed"
        assert "GLEANER_CONSOLE=on" in page.inner_text("#key-why")
        assert page.is_hidden("#key-value")


def test_the_empty_page_says_what_can_be_dropped_and_what_is_found(page: Page, service: Service) -> None:
    page.wait_for_function("() => document.querySelector('.labels b')")
    about = page.inner_text(".about")
    for said in (
        "OCR is not installed",
        "35 labels: Address, BIC",
        "64 MiB",
        "5,000 pages",
        "20 million characters",
    ):
        assert said in about
    assert page.get_attribute(".about a", "href") == "/docs"
    wait_until(lambda: "No scan or photo" in page.inner_text(".drop"))
    assert SUPPORTED["documents"] in page.inner_text(".drop")
    taken = page.evaluate("""async () => (await import("/console/files/source.js")).TAKEN""")
    assert taken == SUPPORTED
    offered = str(page.get_attribute(".drop input", "accept")).split(",")
    assert {f".{ending}" for ending in ENDINGS} <= set(offered)
    assert service.get("/docs").status_code == 200
    assert page.inner_text("#theme") == "Dark"
    page.click("#theme")
    assert (page.inner_text("#theme"), page.evaluate("document.documentElement.dataset.theme")) == ("Light", "dark")
