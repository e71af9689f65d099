"""The console with a model that is given its labels: a box for them, beside a document and beside two models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.console_page import sample
from tests.support.label_models import HOME
from tests.support.service import Service, serving

ASKED = re.compile(r"/extract\?")
BOX = "input[aria-label^='What to find']"


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    """A service whose first model is given its labels, and whose second one has some."""
    publish(HOME / "uni-span-deberta", "free", Store(home / "store"))
    with serving(home, MODELS="free,tiny", PARSERS=1, OCR="off") as service:
        yield service


def test_a_document_is_read_anew_for_other_labels(page: Page) -> None:
    with page.expect_response(ASKED) as usual:
        sample(page, "invoice.pdf")
    assert "labels=person%2C+organization" in usual.value.url
    page.fill(f"#view-document {BOX}", "supplier, total to pay")
    with page.expect_response(ASKED) as other:
        page.keyboard.press("Enter")
    assert "labels=supplier%2C+total+to+pay" in other.value.url
    page.wait_for_selector(".entity .label")
    assert {each.split()[0] for each in page.locator(".entity .label").all_inner_texts()} <= {"supplier", "total"}
    page.select_option("#view-document select", "tiny@stable")
    page.wait_for_selector(f"#view-document {BOX}", state="detached")


def test_two_models_of_which_one_is_given_labels_are_compared(page: Page) -> None:
    page.click('.tabs [href="#compare"]')
    page.wait_for_selector(f"#view-compare {BOX}")
    page.fill(f"#view-compare {BOX}", "supplier")
    with page.expect_response(lambda each: ASKED.search(each.url) and "model=tiny" in each.url) as fixed:
        page.click('#view-compare [data-sample="invoice.pdf"]')
    assert "labels" not in fixed.value.url
    page.wait_for_selector("#view-compare[data-compared]")
    page.select_option(".side-choice select >> nth=0", "tiny@stable")
    page.wait_for_selector(f"#view-compare {BOX}", state="hidden")
