"""Processor seconds and memory of OCR through real parsers: `python -m tests.support.ocr_load` PAGES FILES [DPI].

Reads a scan of some pages as so many files, one after the other, and prints seconds a page, the largest parser, and
what zygote and parsers hold before and after.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import time
from pathlib import Path

import psutil
import pypdfium2

from service.api.parsers.frames import FileHeader
from service.core.tenants import ANONYMOUS
from tests.support.parsers import PoolSetup, parsers_of, pool_of, zygotes_of

INVOICE = Path(__file__).parents[2] / "loadtest" / "samples" / "invoice.pdf"
MEBIBYTE = 1 << 20


def scan(pages: int, dpi: int) -> bytes:
    """A TIFF whose pages show the sample invoice."""
    with pypdfium2.PdfDocument(INVOICE) as document:
        shown = document[0].render(scale=dpi / 72).to_pil().convert("L")
    file = io.BytesIO()
    shown.save(file, "TIFF", compression="jpeg", save_all=True, append_images=[shown] * (pages - 1), dpi=(dpi, dpi))
    return file.getvalue()


def _held_bytes() -> int:
    """Resident in zygote and parsers, what they share counted in each."""
    processes = [*zygotes_of(os.getpid()), *parsers_of(os.getpid())]
    return sum(psutil.Process(each).memory_info().rss for each in processes)


def _processor_seconds() -> float:
    (zygote,) = zygotes_of(os.getpid())
    times = [psutil.Process(each).cpu_times() for each in (zygote, *parsers_of(os.getpid()))]
    return sum(each.user + each.system for each in times) + times[0].children_user + times[0].children_system


async def measure(pages: int, files: int, dpi: int) -> str:
    """Read the files; the figures as a line."""
    data, largest = scan(pages, dpi), 0
    async with pool_of(PoolSetup(size=1, seconds=600.0, ocr=True)) as pool:
        await asyncio.sleep(2)
        held, worked = _held_bytes(), _processor_seconds()
        for _ in range(files):
            with pool.holding() as name:
                for page in range(1, pages + 1):
                    deadline = time.monotonic() + 600
                    header = FileHeader(None, None, pool.document_limits, ocr_pages=(page,))
                    await pool.parse(data, header, client=ANONYMOUS, deadline_seconds=deadline, held=name)
                    sizes = (psutil.Process(each).memory_info() for each in parsers_of(os.getpid()))
                    largest = max(largest, *(each.rss for each in sizes))
        count = pages * files
        seconds = (_processor_seconds() - worked) / count
        await asyncio.sleep(2)
        after = _held_bytes()
    return (
        f"{count} pages of {dpi} dpi: {seconds:.2f} s a page, largest parser {largest // MEBIBYTE} MiB, "
        f"all {held // MEBIBYTE} MiB before, {after // MEBIBYTE} after"
    )


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    print(asyncio.run(measure(given[0], given[1], given[2] if len(given) > 2 else 200)))
