"""Pages of words in the console: what was found stands where the words are, for models of each kind."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.console_page import DONE, drop, numbers
from tests.support.extraction import placed_page
from tests.support.ocr_results import HOCR, textract, word
from tests.support.service import Service, serving
from tests.support.tiny_models import make_model

LINES = ("Invoice INV-20931 from Acme GmbH", "due 12 March 2026", "total EUR 1,200.00")
SHOWN = """() => [...document.querySelectorAll('[data-page="1"] .box')].map((box) => {
    const sheet = box.closest(".sheet").getBoundingClientRect(), at = box.getBoundingClientRect();
    const across = (x) => (x - sheet.left) / sheet.width, down = (y) => (y - sheet.top) / sheet.height;
    return [across(at.left), down(at.top), across(at.right), down(at.bottom)];
})"""


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    """A service with the built-in model and two that see pages."""
    for kind in ("layoutlm", "layoutlmv3"):
        publish(make_model(home / kind, kind, seed=7), kind, Store(home / "store"))
    with serving(home, MODELS="documents,layoutlm,layoutlmv3", PARSERS=1, OCR="off", DTYPE="float32") as service:
        yield service


def pages(*, image: bytes | None = None) -> bytes:
    """A file of two pages of words, the first with a picture if there is one."""
    first = placed_page(*LINES)
    if image is not None:
        first["image"] = base64.b64encode(image).decode()
    return json.dumps({"pages": [first, placed_page("Jane Doe paid", unit=3.0)]}).encode()


def textract_of(page: dict[str, Any]) -> bytes:
    """The same as Textract's JSON."""
    wide, high = page["width"], page["height"]
    words = [
        word(each["text"], each["box"][0] / wide, each["box"][1] / high)
        | {"Geometry": {"BoundingBox": {
            "Left": each["box"][0] / wide, "Top": each["box"][1] / high,
            "Width": (each["box"][2] - each["box"][0]) / wide, "Height": (each["box"][3] - each["box"][1]) / high,
        }}}
        for each in page["words"]
    ]  # fmt: skip
    return json.dumps(textract(*words)).encode()


def dropped(page: Page, name: str, data: bytes) -> dict[str, Any]:
    """The answer to a file, when its first page shows."""
    with page.expect_response(re.compile("/extract")) as answer:
        drop(page, name, data)
    page.wait_for_selector(DONE)
    page.wait_for_selector('[data-page="1"] .sheet img')
    found: dict[str, Any] = answer.value.json()["documents"][0]
    return found


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.json", pages()), ("textract.json", textract_of(placed_page(*LINES)))],
    ids=["pages", "textract"],
)
def test_entities_are_framed_on_their_words(page: Page, name: str, data: bytes) -> None:
    found = dropped(page, name, data)
    page.wait_for_selector(".box")
    entities = [each for each in found["entities"] if each["page"] == 1]
    wide, high = found["page_sizes"][0]
    stated = [
        [box[0] / wide, box[1] / high, box[2] / wide, box[3] / high] for each in entities for box in each["boxes"]
    ]
    assert len(stated) >= 3
    shown = page.evaluate(SHOWN)
    assert len(shown) == len(stated)
    for box, wanted in zip(shown, stated, strict=True):
        assert box == pytest.approx(wanted, abs=0.005)
    page.click(".side > .choice button >> nth=1")
    page.click('.entity[data-entity="0"]')
    assert numbers(page, ".box.chosen") == {0}
    page.click("button >> text=Text")
    page.wait_for_selector("mark")
    assert "INV-20931" in str(page.text_content(".text"))


def test_pages_of_words_are_drawn_in_turn_each_in_its_own_size(page: Page) -> None:
    sent: list[str] = []
    page.on("response", lambda got: sent.append(got.headers["content-type"]) if "/picture" in got.url else None)
    dropped(page, "scan.hocr", HOCR.encode())
    assert page.locator("figure").count() == 2
    page.locator('[data-page="2"]').scroll_into_view_if_needed()
    page.wait_for_selector('[data-page="2"] .sheet img')
    ratios = page.eval_on_selector_all(".sheet", "sheets => sheets.map((each) => each.clientHeight / each.clientWidth)")
    assert ratios == pytest.approx([3508 / 2480] * 2, rel=0.01)
    assert set(sent) == {"image/svg+xml"}


def test_a_page_that_came_with_its_picture_is_shown_by_it(page: Page) -> None:
    file = io.BytesIO()
    Image.new("RGB", (595, 842), "#ffeecc").save(file, "PNG")
    with page.expect_response(re.compile(r"/console/picture\?page=1&")) as drawn:
        dropped(page, "a.json", pages(image=file.getvalue()))
    assert drawn.value.headers["content-type"] == "image/png"
    assert drawn.value.headers["x-page"] == "595 842 2"
    assert numbers(page, ".box")


def test_who_chose_a_model_that_cannot_read_a_document_chooses_another(page: Page) -> None:
    choice = page.locator("#view-document select")
    choice.select_option("layoutlm@stable")
    assert "it reads PDFs, scans and photos, hOCR, ALTO" in page.inner_text(".labels")
    page.fill("#words", "Jane Doe paid EUR 9.00")
    page.click(".paste button")
    page.wait_for_selector(".failure")
    assert "this document has no pages. Choose another model" in page.inner_text(".failure")
    assert choice.input_value() == "layoutlm@stable"
    choice.select_option("documents@stable")
    page.wait_for_selector("mark")
    choice.select_option("layoutlmv3@stable")
    page.wait_for_selector(".failure")
    drop(page, "a.json", pages())
    page.wait_for_selector(".failure >> text=there is none of page 1. Choose another model")
    choice.select_option("layoutlm@stable")
    page.wait_for_selector('[data-page="1"] .sheet img')
    assert page.query_selector(".failure") is None
