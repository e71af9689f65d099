"""One service with two models for all tests of the console, and a page of it for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import chromium, opened
from tests.support.service import Service, serving


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    """A service with the built-in model and another one."""
    with serving(home, MODELS="documents,tiny", WORKERS=2, PARSERS=1, OCR="off") as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    with opened(browser, service.url) as page:
        yield page
