"""/docs in a browser: every route, option and error code with a description; nothing left to resolve or to render."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from service.api.options import ExtractOptions, Options, option_names
from service.api.problems import STATUS
from service.api.redaction.schemas import RedactOptions
from service.core.errors import BY_CODE
from service.signals.routes import ADAPTERS
from tests.support.browser import opened, serious_faults
from tests.support.service import Service, serving

PLACES = [{}, {"dark": True}, {"width": 360, "height": 740}]


@pytest.fixture(scope="module")
def everything(home: Path) -> Iterator[Service]:
    """A service with all adapters."""
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, OCR="off", ADAPTERS=",".join(ADAPTERS)) as service:
        yield service


@pytest.fixture(scope="module")
def document(everything: Service) -> dict[str, Any]:
    found: dict[str, Any] = everything.get("/openapi.json").json()
    return found


@pytest.fixture
def docs(browser: Browser, everything: Service) -> Iterator[Page]:
    """The page with all its parts unfolded."""
    with opened(browser, f"{everything.url}/docs") as page:
        _unfold(page)
        yield page


def _unfold(page: Page) -> None:
    page.eval_on_selector_all("details", "nodes => nodes.forEach(node => { node.open = true })")


def _rows(page: Page, place: str) -> dict[str, list[str]]:
    """The cells after the first, by the first's name."""
    rows = page.locator(f"{place} >> tbody > tr:has(> th)").all()
    return {row.locator("th code").inner_text(): row.locator("> td").all_inner_texts() for row in rows}


def test_every_route_is_there_with_a_summary_and_a_link(docs: Page, document: dict[str, Any]) -> None:
    titles = docs.locator("section h3").all_inner_texts()
    links = docs.eval_on_selector_all("nav ul ul a", "nodes => nodes.map(node => node.getAttribute('href'))")
    shown = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert set(titles) == shown
    assert len(links) == len(set(links)) == len(shown) == docs.locator(", ".join(links)).count()
    assert all(docs.locator("section > .summary").all_inner_texts())


@pytest.mark.parametrize(("path", "kind"), [("extract", ExtractOptions), ("redact", RedactOptions)])
def test_every_option_has_a_type_and_a_description(docs: Page, path: str, kind: type[Options]) -> None:
    rows = _rows(docs, f"#route-post-{path} > table")
    assert set(rows) == set(option_names(kind))
    assert all(type_ and said for type_, _, said in rows.values())
    assert rows["offsets"][:2] == ["codepoint or utf16 or byte", "codepoint"]
    assert rows["model"][1] == "", "it has no default"


def test_every_error_code_is_in_one_table_with_its_meaning(docs: Page) -> None:
    rows = _rows(docs, "#errors + section")
    assert {code: cells[:2] for code, cells in rows.items()} == {
        code: [str(status), BY_CODE[code].title] for code, status in STATUS.items()
    }


def test_members_of_an_answer_are_shown_down_to_the_last(docs: Page, document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name in ("ExtractedDocument", "Entity", "Fields", "Field", "LineItem", "Timing", "RecognizedPage"):
        members = _rows(docs, f"#route-post-extract-{name.lower()} > table")
        assert set(schemas[name]["properties"]) <= set(members), name
    assert "mean probability" in _rows(docs, "#route-post-extract-recognizedpage > table")["confidence"][1]


def test_nothing_is_left_to_resolve_or_to_render(docs: Page) -> None:
    text = docs.inner_text("body")
    for raw in ("$ref", "`", "#/components", "undefined", "None"):
        assert raw not in text


def test_the_example_that_is_shown_can_be_posted(docs: Page, everything: Service) -> None:
    request = docs.inner_text("#route-post-extract > pre")
    assert request.startswith(f"curl {everything.url}/extract")
    sent = request.partition("-d '")[2].removesuffix("'")
    answer = httpx.post(f"{everything.url}/extract", content=sent, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert '"entities"' in docs.inner_text("#route-post-extract details:last-child pre")


@pytest.mark.parametrize("place", PLACES)
def test_it_can_be_read_anywhere_and_by_everybody(browser: Browser, everything: Service, place: dict[str, Any]) -> None:
    with opened(browser, f"{everything.url}/docs", **place) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        _unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious_faults(page) == []
