"""Attacks by files: slow ones, and ones that end their parser (H1)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress

from loadtest.bench.attacks.attack import Attack
from loadtest.bench.attacks.callers import ask_on
from loadtest.bench.attacks.target import Target, attackers_job
from loadtest.workload.docx import make_docx_of
from loadtest.workload.mix import DOCX, PDF
from loadtest.workload.pdf import make_pdf

BETWEEN_KILLS_SECONDS = 0.2
EMPTY_PARAGRAPHS = 40_000_000


def slow_docx() -> bytes:
    """A file of 260 KB that unpacks to 240 MB of paragraphs without a letter."""
    return make_docx_of("<w:p/>" * EMPTY_PARAGRAPHS + "<w:p><w:r><w:t>Jane Doe</w:t></w:r></w:p>")


async def _four_files(target: Target, end: float) -> None:
    job = attackers_job(slow_docx(), DOCX)
    await ask_on(target, lambda: job, 4, end)


async def _crashing_files(target: Target, end: float) -> None:
    """Whatever reads a file is killed over it, as by a fault of the parser; so are those that read other files."""
    job = attackers_job(make_pdf("Jane Doe of Acme GmbH"), PDF)
    killing = asyncio.ensure_future(_kill_parsers(target, end))
    try:
        await ask_on(target, lambda: job, 8, end)
    finally:
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)


async def _kill_parsers(target: Target, end: float) -> None:
    while time.monotonic() < end:
        for process in await asyncio.to_thread(target.parts.parsers):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        await asyncio.sleep(BETWEEN_KILLS_SECONDS)


ATTACKS = (
    Attack("four slow files of one client; another's PDFs", "H1", _four_files, neighbour_sends="pdf"),
    Attack("files that kill their parser, 8 callers", "H1", _crashing_files),
)
