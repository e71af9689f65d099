"""How long one client waits for a one-page invoice: a warm service, one request at a time, over HTTP.

The sample invoice, and a full page of it with many rows, each as a PDF and as the text of that PDF. Each request is a
document of its own: its invoice number is new.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import httpx
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from loadtest.bench.fixtures import service
from loadtest.samples.make import INVOICE

NUMBER = "NO-2026-00417"
ROWS, FIRST_ROW, LAST_ROW, ROW_POINTS = 24, 620, 604, 16
"""Rows of a full page, the first's and the last's place on the sample, and a row's height."""
WARM, REQUESTS = 5, 60
PRECISIONS = ("auto", "int8")
Line = tuple[int, int, int, str]


def measure(home: Path) -> None:
    """Print the median and the 90th percentile in milliseconds, by document and precision."""
    print("\n## A one-page invoice, one request at a time, milliseconds\n")
    print("| document | precision | characters | tokens | p50 | p90 | parse | compute | least |")
    print("|---|---|---|---|---|---|---|---|---|")
    for precision in PRECISIONS:
        with service(home, MODELS="documents", DTYPE=precision) as running:
            for name, lines in (("sample", list(INVOICE)), ("full page", full_page())):
                for as_text in (False, True):
                    print(
                        _row(
                            running.url, home, f"{name}, {'text' if as_text else 'PDF'} | {precision}", lines, as_text
                        ),
                        flush=True,
                    )


def full_page() -> list[Line]:
    """The sample's lines with its rows repeated over the page, and what stands below them moved down."""
    head = [line for line in INVOICE if line[1] > FIRST_ROW]
    rows = [line for line in INVOICE if LAST_ROW <= line[1] <= FIRST_ROW]
    foot = [line for line in INVOICE if line[1] < LAST_ROW]
    further = (ROWS // 2 - 1) * 2 * ROW_POINTS
    repeated = [
        (left, baseline - 2 * ROW_POINTS * pair, size, text)
        for pair in range(ROWS // 2)
        for left, baseline, size, text in rows
    ]
    return head + repeated + [(left, baseline - further, size, text) for left, baseline, size, text in foot]


def written(path: Path, lines: list[Line], number: int) -> bytes:
    """The bytes of a one-page PDF with these lines and an invoice number of its own."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    for left, baseline, size, text in lines:
        canvas.setFont("Helvetica", size)
        canvas.drawString(left, baseline, text.replace(NUMBER, f"NO-2026-{number:05}"))
    canvas.save()
    return path.read_bytes()


def _row(url: str, home: Path, name: str, lines: list[Line], as_text: bool) -> str:
    waits, parse, compute = [], [], []
    with httpx.Client(base_url=url, timeout=60.0) as client:
        for number in range(WARM + REQUESTS):
            file = written(home / "one-page.pdf", lines, number)
            body = _as_text(client, file) if as_text else file
            began = time.perf_counter()
            answer = client.post("/extract", content=body, headers={"Content-Type": _TYPES[as_text]})
            milliseconds = (time.perf_counter() - began) * 1000
            document = answer.raise_for_status().json()
            if number >= WARM:
                waits.append(milliseconds)
                parse.append(document["timing"]["parse_ms"])
                compute.append(document["timing"]["compute_ms"])
    found = document["documents"][0]
    cuts = statistics.quantiles(waits, n=10)
    return (
        f"| {name} | {found['characters']:,} | {found['tokens']} | {cuts[4]:.0f} | {cuts[8]:.0f} "
        f"| {statistics.median(parse):.1f} | {statistics.median(compute):.1f} | {min(waits):.0f} |"
    )


_TYPES = {False: "application/pdf", True: "text/plain; charset=utf-8"}


def _as_text(client: httpx.Client, file: bytes) -> bytes:
    answer = client.post("/extract?include_text=true", content=file, headers={"Content-Type": _TYPES[False]})
    return str(answer.raise_for_status().json()["documents"][0]["text"]).encode()
