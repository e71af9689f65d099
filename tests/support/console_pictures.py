"""The console's pictures that README.md shows, made anew: `make screenshots` (ARGS='live phone': these alone).

A service with the built-in model, the documents of `console_documents`, a real browser; each picture as WebP.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.support import console_documents as documents
from tests.support.browser import chromium, opened
from tests.support.console_page import DONE, drop, sample
from tests.support.service import Service, serving

FOLDER = documents.SAMPLES.parent / "views"
MOST_BYTES = 150_000
LONG_PAGES = 600
LONG_MS = 900_000
LOAD_SECONDS = 15.0
TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00. Contact: Jane Doe, jane@acme.example. "
Scene = Callable[[Page, Service], None]


def invoice(page: Page, _: Service) -> None:
    sample(page, "invoice.pdf")
    page.hover('.role >> text="Due date"')
    page.hover('.role >> text="Due date"')


def resume(page: Page, _: Service) -> None:
    sample(page, "resume.pdf")
    page.hover(".box >> nth=6")


def german(page: Page, _: Service) -> None:
    sample(page, "rechnung.pdf")
    page.click('.role >> text="Total amount"')


def report(page: Page, _: Service) -> None:
    drop(page, "audit-2026.pdf", documents.report(LONG_PAGES, 6))
    page.wait_for_selector(".entity", timeout=LONG_MS)
    page.fill(".jump input", "417")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-page="417"] .box')
    page.wait_for_selector('[data-page="418"] img')
    page.wait_for_timeout(500)


def scan(page: Page, _: Service) -> None:
    drop(page, "delivery note.pdf", documents.scan())
    page.wait_for_selector(f".notice.bad, {DONE}")
    page.wait_for_selector(".sheet img")


def request(page: Page, _: Service) -> None:
    sample(page, "resume.pdf")
    page.click(".facts a")
    page.wait_for_selector(".batches")
    page.mouse.move(0, 0)


def live(page: Page, service: Service) -> None:
    service.extract(text=TEXT * 300, deadline_ms=400)
    page.click('.tabs [href="#live"]')
    page.wait_for_timeout(1000 * LOAD_SECONDS)


def phone(page: Page, _: Service) -> None:
    sample(page, "rechnung.pdf")


VIEWS: dict[str, tuple[Scene, dict[str, int]]] = {
    "invoice": (invoice, {}),
    "resume-dark": (resume, {"dark": 1}),
    "german-invoice": (german, {}),
    "long-report": (report, {}),
    "scan": (scan, {"height": 760}),
    "request": (request, {"height": 640}),
    "live": (live, {"height": 1190}),
    "phone": (phone, {"width": 390, "height": 1300}),
}


UNDER_LOAD = ("request", "live")


@contextmanager
def _load(service: Service) -> Iterator[None]:
    """Three clients with texts of several lengths."""
    going = True

    def post(number: int) -> None:
        with httpx.Client(base_url=service.url, timeout=60) as client:
            while going:
                client.post("/extract", json={"documents": [{"text": TEXT * n} for n in range(1, 5 + number)]})

    with ThreadPoolExecutor(3) as threads:
        posting = [threads.submit(post, number) for number in range(3)]
        try:
            yield
        finally:
            going = False
            for each in posting:
                each.result()


def take(browser: Browser, service: Service, name: str) -> bytes:
    """One view as WebP."""
    scene, how = VIEWS[name]
    width, height = how.get("width", 1440), how.get("height", 900)
    loaded = _load(service) if name in UNDER_LOAD else nullcontext()
    with opened(browser, service.url, dark=bool(how.get("dark")), width=width, height=height) as page, loaded:
        scene(page, service)
        shot = Image.open(io.BytesIO(page.screenshot()))
    file = io.BytesIO()
    shot.convert("RGB").save(file, "WEBP", quality=82, method=6)
    return file.getvalue()


def main() -> None:
    """Make all pictures, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.console_pictures", description=__doc__)
    parser.add_argument("view", nargs="*", help=f"of {', '.join(VIEWS)} (default: all)")
    wanted = parser.parse_args().view or [*VIEWS]
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home), WORKERS=2, DEADLINE_MS=LONG_MS, PARSE_SECONDS=600) as service,
        chromium() as browser,
    ):
        for name in wanted:
            data = take(browser, service, name)
            assert len(data) < MOST_BYTES, f"{name} has {len(data):,} bytes"
            (FOLDER / f"{name}.webp").write_bytes(data)
            print(f"{name}: {len(data):,} bytes", flush=True)


if __name__ == "__main__":
    main()
