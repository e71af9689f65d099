"""A real Chromium for tests of pages: what it complains of, and where it turns to, is kept and must be nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import axe_playwright_python
from playwright.sync_api import Browser, Page, Request, sync_playwright

CHROMIUM = shutil.which("chromium") or "chromium"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
LOADING_FAILED = "Failed to load resource"
"""What Chromium itself says of every answer that is an error, which may be just what a test is about."""
LIMIT_MS = 150_000
"""For what a page waits for; a machine with forty other things to do has needed more than 60 s for a long report."""
VIOLATIONS = (
    "document.addEventListener('securitypolicyviolation', (event) => console.error('CSP', event.violatedDirective))"
)


@dataclass
class Complaints:
    """What went wrong in a page."""

    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def watch(self, page: Page, host: str) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("request", lambda request: self._asked(request, host))

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not text.startswith(LOADING_FAILED):
            self.errors.append(text)

    def _asked(self, request: Request, host: str) -> None:
        if urlsplit(request.url).netloc not in ("", host):
            self.strangers.append(request.url)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, ended when the context ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, url: str, *, dark: bool = False, width: int = 1440, height: int = 900, locale: str = "en-GB"
) -> Iterator[Page]:
    """A page of a service, about which nothing may be wrong at the end; `locale`: its reader's."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        locale=locale,
    )
    context.set_default_timeout(LIMIT_MS)
    page, complaints = context.new_page(), Complaints()
    page.add_init_script(VIOLATIONS)
    complaints.watch(page, urlsplit(url).netloc)
    try:
        page.goto(url)
        yield page
        assert complaints == Complaints()
    finally:
        context.close()


def faults(page: Page) -> list[str]:
    """What axe-core finds."""
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary'][:300]}"
        for each in found["violations"]
    ]
