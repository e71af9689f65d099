"""The console in a real browser, on a real service with two API workers."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, Route

from tests.support import console_documents as documents
from tests.support.browser import chromium, opened, serious_faults
from tests.support.document_files import simple_docx
from tests.support.service import Service, serving, wait_until

TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00. Contact: Jane Doe, jane@acme.example. "
VIEWS = ("document", "compare", "requests", "live")


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    """A service with the built-in model and another one."""
    with serving(home, MODELS="documents,tiny", WORKERS=2, PARSERS=1) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    with opened(browser, service.url) as page:
        yield page


def drop(page: Page, name: str, data: bytes) -> None:
    page.set_input_files("input[type=file]", files=[FilePayload(name=name, mimeType="", buffer=data)])


def sample(page: Page, name: str) -> dict[str, Any]:
    """Open a sample and wait for all of it; returns its answer."""
    with page.expect_response(re.compile("/extract")) as answer:
        page.click(f'#view-document [data-sample="{name}"]')
    page.wait_for_selector(".entity")
    page.wait_for_selector(".sheet img, mark")
    found: dict[str, Any] = answer.value.json()["documents"][0]
    return found


def numbers(page: Page, selector: str) -> set[int]:
    """The entities that elements stand for."""
    found: list[str] = page.eval_on_selector_all(selector, "nodes => nodes.map(node => node.dataset.entity)")
    return set(map(int, found))


def text_under(data: bytes, box: list[float]) -> str:
    """The characters that pdfium itself finds in a box of the first page, without white space."""
    document = pypdfium2.PdfDocument(data)
    page = document[0]
    height = page.get_height()
    left, top, right, bottom = box
    found = page.get_textpage().get_text_bounded(left - 1, height - bottom - 1, right + 1, height - top + 1)
    document.close()
    return re.sub(r"\s", "", found)


def test_boxes_lie_where_the_words_are(page: Page) -> None:
    with page.expect_response(re.compile("/console/picture")) as drawn:
        found = sample(page, "invoice.pdf")
    shown = page.evaluate("""() => {
        const image = document.querySelector(".sheet img"), frame = image.getBoundingClientRect();
        return [...document.querySelectorAll(".box")].map((box) => {
            const at = box.getBoundingClientRect();
            const across = (x) => (x - frame.left) / frame.width, down = (y) => (y - frame.top) / frame.height;
            return [Number(box.dataset.entity), across(at.left), down(at.top), across(at.right), down(at.bottom)];
        });
    }""")
    assert {each[0] for each in shown} == set(range(len(found["entities"])))
    assert len(shown) > 20
    invoice = documents.sample("invoice.pdf")
    picture = httpx.post(drawn.value.url, content=invoice, timeout=60.0).raise_for_status().content
    ink = np.asarray(Image.open(io.BytesIO(picture)).convert("L")) < 140
    high, wide = ink.shape
    for index, left, top, right, bottom in shown:
        entity = found["entities"][index]
        inside = ink[round(top * high) : round(bottom * high), round(left * wide) : round(right * wide)]
        assert inside.mean() > 0.02, f"no ink under {entity['text']}"
        edges = (inside[:1].mean(), inside[-1:].mean())
        assert max(edges) < 0.35, f"the box of {entity['text']} cuts through letters"
        points = [left * 595.28, top * 841.89, right * 595.28, bottom * 841.89]
        if len(entity["boxes"]) == 1:
            assert re.sub(r"\s", "", entity["text"]) in text_under(invoice, points)


def test_list_and_boxes_show_each_other(page: Page) -> None:
    sample(page, "invoice.pdf")
    page.hover('.entity[data-entity="3"]')
    assert numbers(page, ".box.on") == {3}
    page.hover('.box[data-entity="5"]')
    assert numbers(page, ".entity.on") == {5}
    assert page.inner_text(".tip")
    page.click('.box[data-entity="7"]')
    assert numbers(page, ".entity.chosen") == {7}


def test_filters_by_label_score_and_words_hold_for_list_and_boxes(page: Page) -> None:
    found = sample(page, "invoice.pdf")["entities"]
    everything = set(range(len(found)))
    money = {n for n, each in enumerate(found) if each["label"] == "MONEY"}
    page.click('.chip[data-label="MONEY"]')
    assert numbers(page, ".entity") == numbers(page, ".box") == everything - money
    page.click('.chip[data-label="MONEY"]', modifiers=["Shift"])
    assert numbers(page, ".entity") == numbers(page, ".box") == money
    page.click('.chip[data-label="MONEY"]', modifiers=["Shift"])
    page.fill("input[type=range]", "0.95")
    sure = {n for n, each in enumerate(found) if each["score"] >= 0.95}
    assert numbers(page, ".entity") == numbers(page, ".box") == sure
    assert 0 < len(sure) < len(everything)
    page.fill("input[type=range]", "0")
    page.fill("input[type=search]", "finch")
    assert "Harbour & Finch" in page.inner_text(".entity")
    assert len(numbers(page, ".entity")) < 4
    page.fill("input[type=search]", "nothing like it")
    assert page.inner_text(".entities .empty") == "No entity passes the filters."


def test_values_stand_beside_the_text_and_keys_go_through_the_list(page: Page) -> None:
    found = sample(page, "rechnung.pdf")["entities"]
    (due,) = [n for n, each in enumerate(found) if each["label"] == "DUE_DATE"]
    assert found[due]["value"] == "2026-03-19"
    assert "2026-03-19" in page.inner_text(f'.entity[data-entity="{due}"] .value')
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.focus(".entity >> nth=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert numbers(page, ".entity:focus") == numbers(page, ".entity.on") == {2}
    page.keyboard.press("Enter")
    assert numbers(page, ".box.chosen") == {2}


def test_fields_stand_in_a_list_of_their_own_and_lead_to_their_words(page: Page) -> None:
    found = sample(page, "invoice.pdf")
    fields = found["fields"]
    page.click(f'text="Fields {len(fields["roles"])}"')
    assert page.is_hidden(".entities")
    shown = page.inner_text(".fields")
    for field in fields["roles"].values():
        assert field["value"] in shown
    assert fields["checks"][0]["holds"]
    assert "✓ net amount + tax amount = total amount" in shown
    for row in fields["line_items"]:
        assert row["description"]["text"] in shown
    total = fields["roles"]["total_amount"]
    (index,) = [n for n, each in enumerate(found["entities"]) if each["start"] == total["start"]]
    page.click('.role >> text="Total amount"')
    assert numbers(page, ".box.chosen") == {index}
    page.click('text="Entities"')
    assert numbers(page, ".entity.chosen") == {index}


def test_rare_labels_are_one_click_away(page: Page) -> None:
    labels = {each["label"] for each in sample(page, "invoice.pdf")["entities"]}
    assert page.locator(".chip:visible").count() < len(labels)
    page.click(".chip.more")
    assert page.locator(".chip:visible").count() == len(labels)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "a.docx",
            simple_docx("Offer to Jane Doe of Acme GmbH in Köln 🎉, 12 March 2026, jane@acme.example"),
        ),
        ("a.txt", f"🎉 {TEXT}".encode()),
        ("a.html", documents.sample("offer.html")),
    ],
)
def test_formats_without_pages_are_shown_as_marked_text(page: Page, name: str, data: bytes) -> None:
    with page.expect_response(re.compile("/extract")) as answer:
        drop(page, name, data)
    page.wait_for_selector("mark")
    found = answer.value.json()["documents"][0]
    marks = page.eval_on_selector_all("mark", "nodes => nodes.map(node => node.textContent)")
    assert marks == [each["text"] for each in found["entities"]]
    assert page.text_content(".text") == found["text"]


def test_a_pasted_text_is_read_and_copied_as_json_curl_and_python(page: Page, service: Service) -> None:
    text = "It's from Jane Doe, jane@acme.example"
    page.fill("#words", text)
    page.click(".paste button")
    page.wait_for_selector("mark")
    page.click("#copy")
    copied: dict[str, str] = {}
    for name in ("JSON", "curl", "Python"):
        page.click(f"[role=tab] >> text={name}")
        copied[name] = page.inner_text("dialog pre")
    assert json.loads(copied["JSON"])["documents"][0]["entities"]
    assert "text" not in json.loads(copied["JSON"])["documents"][0]
    assert f"'{service.url}/extract?fields=true'" in copied["curl"]
    assert "It'\\''s from" in copied["curl"]
    page.keyboard.press("Escape")
    by_curl = json.loads(run(["bash", "-c", copied["curl"]]))["documents"][0]
    assert by_curl["entities"] == json.loads(copied["JSON"])["documents"][0]["entities"]
    by_python = run([sys.executable, "-c", copied["Python"]]).splitlines()
    assert [line.split()[0] for line in by_python] == [each["label"] for each in by_curl["entities"]]


def run(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_pages_that_were_not_read_are_said_on_top_and_on_the_page(page: Page) -> None:
    drop(page, "half.pdf", documents.report(1, 12, scanned=1))
    page.wait_for_selector(".entity")
    assert page.inner_text(".notice") == "Page 2: not read, but for a stamp or a heading at most."
    assert page.inner_text('[data-page="2"] .unread')
    assert page.query_selector('[data-page="1"] .unread') is None


def test_a_scan_is_refused_with_a_sentence_and_still_shown(page: Page) -> None:
    drop(page, "scan.pdf", documents.scan())
    page.wait_for_selector(".notice.bad")
    sentence = page.inner_text(".notice.bad")
    assert sentence.startswith("The PDF has no text layer")
    assert sentence.endswith(".")
    page.wait_for_selector(".sheet img")


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


def test_of_a_long_document_the_windows_that_are_done_are_counted(browser: Browser, home: Path) -> None:
    with (
        serving(home, MODELS="tiny", WORKERS=2, PARSERS=1, PACE_TOKENS_PER_SECOND=1_000) as slow,
        opened(browser, slow.url) as page,
    ):
        drop(page, "long.txt", ("from anna smith " * 5_000).encode())
        page.wait_for_selector(".progress.known")
        told = re.compile(r"Extracting: (\d+) of (\d+) windows, \d+ s …")
        found = told.fullmatch(page.inner_text("aside [role=status]"))
        assert found is not None
        assert 0 <= int(found[1]) < int(found[2])
        page.wait_for_function("() => !/: 0 of/.test(document.querySelector('aside [role=status]')?.innerText ?? '')")
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
        for entity in body["documents"][0]["entities"]:
            entity.update(label=label, value="<b onclick=x>", valid=False)
        role = {"text": "1", "value": "<u>1</u>", "score": 0.5, "start": 0, "end": 1, "alternatives": []}
        rule = {"rule": "<s>a = b</s>", "holds": False, "difference": "<b>1</b>"}
        body["documents"][0]["fields"] = {"kind": "<em>x</em>", "roles": {"<i>total</i>": role}, "checks": [rule]}
        route.fulfill(response=answer, json=body)

    page.route("**/extract*", spoil)
    page.fill("#words", TEXT)
    page.click(".paste button")
    page.wait_for_selector("mark")
    assert label in page.inner_text(".entity")
    assert "not valid" in page.inner_text(".entity")
    page.click('text="Fields 1"')
    for shown in ("<em>x</em>", "<i>total</i>", "<u>1</u>", "<s>a = b</s>", "<b>1</b>"):
        assert shown in page.inner_text(".fields")
    page.hover("mark")
    assert label in page.inner_text(".tip")
    page.click(".chip")
    assert not numbers(page, ".entity")
    assert page.evaluate("window.harmed") is None


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
        with httpx.Client(base_url=service.url, timeout=60) as client:
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
    assert service.extract(text=TEXT * 100_000, deadline_ms=5_000).json()["code"] == "deadline_exceeded"
    page.click('.tabs [href="#live"]')
    page.wait_for_selector("#view-live[data-now]")
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
    assert names == ["scale in 0.4", "target 0.7", "step 0.85"]
    assert "deadline_exceeded" in page.inner_text("#view-live")
    assert "documents@stable" in page.inner_text("#view-live")
    assert "tiny@stable" in page.inner_text("#view-live")


def shows_a_batch(page: Page) -> bool:
    """Point at the newest batch, which may be drawn anew before the browser notices; what is said of it."""
    page.hover(".timeline .batch[data-batch] >> nth=-1", force=True)
    return "Batch" in "".join(page.locator(".tip").all_inner_texts())


def test_two_models_are_compared_on_one_document(page: Page, service: Service) -> None:
    sample(page, "invoice.pdf")
    page.click('.tabs [href="#compare"]')
    page.fill(".side-choice input >> nth=1", "tiny")
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
    page.fill(".side-choice input >> nth=1", "nobody")
    page.click("#view-compare button.primary")
    page.wait_for_selector("#view-compare .notice.bad")
    assert "nobody" in page.inner_text("#view-compare .notice.bad")


def found(service: Service, model: str) -> list[dict[str, Any]]:
    with service.client() as client:
        kind = {"Content-Type": "application/pdf"}
        answer = client.post(f"/extract?model={model}", content=documents.sample("invoice.pdf"), headers=kind)
    entities: list[dict[str, Any]] = answer.raise_for_status().json()["documents"][0]["entities"]
    return entities


def touches(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["start"] < other["end"] and other["start"] < one["end"])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_serious_fault_in_any_view(browser: Browser, service: Service, dark: bool) -> None:
    with opened(browser, service.url, dark=dark) as page:
        assert serious_faults(page) == []
        sample(page, "invoice.pdf")
        assert serious_faults(page) == []
        page.click("#copy")
        assert serious_faults(page) == []
        page.keyboard.press("Escape")
        page.click(".facts a")
        page.wait_for_selector(".stages")
        assert serious_faults(page) == []
        page.click('.tabs [href="#compare"]')
        page.click("#view-compare button.primary")
        page.wait_for_selector("#view-compare[data-compared]")
        assert serious_faults(page) == []
        page.click('.tabs [href="#live"]')
        page.wait_for_selector("#view-live[data-now]")
        assert serious_faults(page) == []


def test_a_phone_s_width_is_enough(browser: Browser, service: Service) -> None:
    with opened(browser, service.url, width=390, height=844) as page:
        sample(page, "resume.pdf")
        for view in VIEWS:
            page.click(f'.tabs [href="#{view}"]')
            page.wait_for_selector(f"#view-{view}:visible h1")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, f"{view} is {wide} pixels wide"


def test_where_keys_are_needed_the_console_asks_for_one(browser: Browser, home: Path) -> None:
    digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # Of `secret`.
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, API_KEYS=f"ada {digest}") as locked:
        assert locked.get("/console/live").status_code == locked.get("/console/requests").status_code == 401
        with opened(browser, locked.url) as page:
            page.wait_for_selector("#key[open]")
            assert "Send your key" in page.inner_text("#key-why")
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
