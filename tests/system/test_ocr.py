"""Scans and pictures through a service with the built-in models: fields, pages, refusals, a killed parser, doors."""

from __future__ import annotations

import base64
import io
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pypdfium2
import pytest
from PIL import Image, ImageFilter

from service.core.redaction import Repeats
from tests.support.browser import chromium, opened
from tests.support.console_page import DONE, drop
from tests.support.drawn_sheets import sheet
from tests.support.parsers import parsers_of, zygotes_of
from tests.support.processes import children_of
from tests.support.service import Service, serving, wait_until

SAMPLE = Path(__file__).parents[2] / "loadtest" / "samples" / "invoice.pdf"
BUSY_TICKS = int(0.5 * os.sysconf("SC_CLK_TCK"))
"""Processor time that shows a parser which reads a page."""
FIRST = sheet().picture
TALL = Image.new("L", (FIRST.width, 8 * FIRST.height), 255)
"""A page that takes a parser seconds."""
for _number in range(8):
    TALL.paste(FIRST, (0, _number * FIRST.height))


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    with serving(home, MODELS="documents", PARSERS=1, ADAPTERS="comprehend,sagemaker") as service:
        yield service


def post(service: Service, data: bytes, path: str = "/extract", **query: str) -> httpx.Response:
    return httpx.post(service.url + path, params=query, content=data, timeout=240)


def extracted(service: Service, data: bytes, **query: str) -> dict[str, Any]:
    answer = post(service, data, **query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["documents"][0]
    return found


def scanned(data: bytes) -> bytes:
    """A PDF of a file's pages as a scanner has them: askew, unsharp, noisy, gray, compressed."""
    noise = np.random.default_rng(7)
    pages = []
    with pypdfium2.PdfDocument(data) as document:
        for page in document:
            drawn = page.render(scale=200 / 72).to_pil().convert("L")
            turned = drawn.rotate(1.3, resample=Image.Resampling.BICUBIC, fillcolor=255)
            levels = np.asarray(turned.filter(ImageFilter.GaussianBlur(0.8)), np.float32) * 0.9
            levels += noise.normal(0, 8, levels.shape)
            pages.append(Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)))
    file = io.BytesIO()
    pages[0].save(file, "PDF", save_all=True, append_images=pages[1:], resolution=200, quality=60)
    return file.getvalue()


def tiff(*pages: Image.Image) -> bytes:
    file = io.BytesIO()
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    return file.getvalue()


def values(document: dict[str, Any]) -> dict[str, str]:
    return {name: role["value"] for name, role in document["fields"]["roles"].items()}


def test_a_scanned_invoice_has_the_fields_of_its_pdf(service: Service) -> None:
    counted, timed = 'gleaner_requests_total{route="/extract"', 'gleaner_request_seconds_count{route="/extract"}'
    requests, times = service.metric(counted), service.metric(timed)
    original = values(extracted(service, SAMPLE.read_bytes(), fields="true", ocr="off"))
    document = extracted(service, scanned(SAMPLE.read_bytes()), fields="true")
    wait_until(lambda: service.metric(counted) == requests + 2)
    assert service.metric(timed) == times + 1, "recognized pages take seconds, however fast the service is"
    found = values(document)
    assert len(original) == 12
    assert sum(found.get(name) == value for name, value in original.items()) >= 11
    assert document["unread_pages"] == []
    assert [page["page"] for page in document["ocr_pages"]] == [1]
    assert all(entity["boxes"] for entity in document["entities"])
    # In the hyphenated address a space is not out of the question.
    doubted = [entity["text"] for entity in document["entities"] if entity["ocr_confidence"] <= 0.9]
    assert doubted in ([], ["billing@northwind-optics.example"])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (scanned(SAMPLE.read_bytes()), "application/pdf"),
        (tiff(FIRST, FIRST.rotate(180)), "image/tiff"),
        (sheet().file("JPEG"), "image/jpeg"),
    ],
)
def test_a_scan_is_redacted_in_its_own_format(service: Service, data: bytes, kind: str) -> None:
    found = extracted(service, data)
    redacted = post(service, data, "/redact", raw="true")
    assert (redacted.status_code, redacted.headers["content-type"]) == (200, kind), redacted.text
    left = extracted(service, redacted.content, include_text="true")["text"]
    assert not Repeats(entity["text"] for entity in found["entities"]).are_in(left), left
    assert "Invoice" in left


def test_redaction_without_ocr_refuses_scans(service: Service) -> None:
    for data, status in ((scanned(SAMPLE.read_bytes()), 422), (sheet().file(), 415)):
        assert post(service, data, "/redact", ocr="off").status_code == status


def test_a_tiff_of_three_pages_is_read(service: Service) -> None:
    document = extracted(service, tiff(FIRST, FIRST.rotate(180), FIRST), include_text="true")
    assert document["text"].count("RE-2026-118") == 3
    assert [page["turned"] for page in document["ocr_pages"]] == [0, 180, 0]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_a_picture_without_ocr_is_refused_with_the_cure(service: Service, kind: str) -> None:
    answer = post(service, sheet().file(kind), ocr="off")
    assert answer.status_code == 415
    assert "`ocr=off`" in answer.json()["detail"]


@pytest.mark.parametrize(("kind", "size"), [("PNG", (30_000, 30_000)), ("TIFF", (30_000, 30_000))])
def test_a_picture_of_too_many_pixels_is_refused_at_once(service: Service, kind: str, size: tuple[int, int]) -> None:
    file = io.BytesIO()
    options: dict[str, Any] = {"compression": "tiff_lzw"} if kind == "TIFF" else {}
    Image.new("1", size).save(file, kind, **options)
    worker = children_of(service.child("api"))[0]
    spent = _parsing_ticks(worker)
    answer = post(service, file.getvalue())
    assert (answer.status_code, answer.json()["code"]) == (413, "document_too_large")
    assert _parsing_ticks(worker) - spent < 3 * os.sysconf("SC_CLK_TCK"), "decoding it takes longer"


def test_a_page_that_kills_its_parser_is_unread_alone(service: Service) -> None:
    worker = children_of(service.child("api"))[0]

    def busy() -> list[int]:
        return [each for each in parsers_of(worker) if _ticks(each) >= BUSY_TICKS]

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(extracted, service, tiff(TALL, *[FIRST] * 3), include_text="true")
        for _ in range(2):  # The page is tried a second time.
            wait_until(lambda: bool(busy()))
            (reading,) = busy()
            os.kill(reading, signal.SIGKILL)
            wait_until(lambda reading=reading: reading not in parsers_of(worker))  # type: ignore[misc]
        document = asked.result()
    assert document["unread_pages"] == [1]
    assert document["text"].count("RE-2026-118") == 3


def test_other_doors_take_pictures_as_they_take_pdfs(service: Service) -> None:
    body = {"Bytes": base64.b64encode(sheet().file()).decode(), "LanguageCode": "en"}
    target = {"X-Amz-Target": "Comprehend_20171127.DetectEntities", "Content-Type": "application/x-amz-json-1.1"}
    comprehend = httpx.post(service.url, json=body, headers=target, timeout=240).json()
    sagemaker = httpx.post(
        f"{service.url}/invocations", content=sheet().file(), headers={"Content-Type": "image/png"}, timeout=240
    ).json()
    assert comprehend["DocumentType"] == [{"Page": 1, "Type": "IMAGE"}]
    found = {entity["Text"] for entity in comprehend["Entities"]}
    assert "Nordlicht Optik GmbH" in found
    assert {entity["text"] for entity in sagemaker["documents"][0]["entities"]} == found


def test_the_console_shows_a_picture_s_page_with_its_boxes(service: Service) -> None:
    with chromium() as browser, opened(browser, service.url) as page:
        drop(page, "photo.png", sheet().file())
        page.wait_for_selector(DONE)
        page.wait_for_selector(".sheet img")
        page.hover(".box >> nth=0")
        assert "recognized (OCR)" in page.inner_text(".tip")
        sides = page.eval_on_selector(".sheet img", "each => each.naturalWidth / each.naturalHeight")
        assert sides == pytest.approx(1000 / 700, abs=0.01)


def _ticks(process: int, *, ended_children: bool = False) -> int:
    """Processor time that a process has had, and that of its children which have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, fields[11 : 15 if ended_children else 13]))


def _parsing_ticks(worker: int) -> int:
    """Processor time of a worker's parsers, also of those that have ended."""
    zygotes = sum(_ticks(each, ended_children=True) for each in zygotes_of(worker))
    return zygotes + sum(map(_ticks, parsers_of(worker)))
