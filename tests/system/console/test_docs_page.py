"""/docs in a browser: every route, option and error is shown and can be tried, with nothing of another host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from service.api.options import ExtractOptions, Options, option_names
from service.api.problems import STATUS
from service.api.redaction.schemas import RedactOptions
from service.core.errors import BY_CODE
from service.signals.routes import ADAPTERS
from tests.support.browser import opened
from tests.support.service import Service, serving


@pytest.fixture(scope="module")
def everything(home: Path) -> Iterator[Service]:
    """A service with all adapters."""
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, OCR="off", ADAPTERS=",".join(ADAPTERS)) as service:
        yield service


@pytest.fixture
def docs(browser: Browser, everything: Service) -> Iterator[Page]:
    """The page with all routes; what it asks of another host, or the policy blocks, fails the test."""
    with opened(browser, f"{everything.url}/docs") as page:
        page.wait_for_selector(".opblock")
        yield page


def unfolded(page: Page, path: str) -> str:
    """The place of a route's part, unfolded."""
    place = f"#operations-Documents-{path}"
    page.click(f"{place} .opblock-summary-control")
    page.wait_for_selector(f"{place} .responses-table")
    return place


def test_every_route_is_there_with_a_summary(docs: Page, everything: Service) -> None:
    document: dict[str, Any] = everything.get("/openapi.json").json()
    methods = docs.locator(".opblock-summary-method").all_inner_texts()
    paths = docs.eval_on_selector_all(".opblock-summary-path", "nodes => nodes.map(node => node.dataset.path)")
    summaries = docs.locator(".opblock-summary-description").all_inner_texts()
    expected = {
        (method.upper(), path, operation["summary"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert set(zip(methods, paths, summaries, strict=True)) == expected


@pytest.mark.parametrize(("path", "kind"), [("extract", ExtractOptions), ("redact", RedactOptions)])
def test_every_option_has_a_description(docs: Page, path: str, kind: type[Options]) -> None:
    rows = docs.locator(f"{unfolded(docs, path)} tr[data-param-name]")
    names = {row.get_attribute("data-param-name"): row for row in rows.all()}
    assert set(names) == set(option_names(kind))
    assert all(row.locator(".renderedMarkdown").first.inner_text() for row in names.values())


def test_every_error_code_has_its_meaning(docs: Page) -> None:
    said = docs.inner_text(f"{unfolded(docs, 'extract')} .responses-table")
    for code, status in STATUS.items():
        if str(status) in said.split():
            assert f"{code}: {BY_CODE[code].title}" in said


def test_the_example_can_be_sent(docs: Page) -> None:
    place = unfolded(docs, "extract")
    docs.click(f"{place} .try-out__btn")
    docs.click(f"{place} .execute")
    answer = docs.locator(f"{place} .live-responses-table .response")
    assert answer.locator(".response-col_status").inner_text().split()[0] == "200"
    assert '"entities"' in answer.locator(".response-col_description").inner_text()
