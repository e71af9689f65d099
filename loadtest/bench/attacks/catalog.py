"""All attacks, in the order of their findings, and the findings that no attack over HTTP or by signals can repeat."""

from __future__ import annotations

import asyncio
import time

from loadtest.bench.attacks import connections, documents, files, host, tenants
from loadtest.bench.attacks.attack import Attack
from loadtest.bench.attacks.target import Target


async def _nothing(_target: Target, end: float) -> None:
    await asyncio.sleep(max(0.0, end - time.monotonic()))


QUIET = Attack("quiet: no attack", "–", _nothing)
QUIET_PDF = Attack("quiet: no attack, PDFs", "–", _nothing, neighbour_sends="pdf")

ATTACKS: tuple[Attack, ...] = (
    QUIET,
    QUIET_PDF,
    *sorted(
        (*documents.ATTACKS, *connections.ATTACKS, *files.ATTACKS, *tenants.ATTACKS, *host.ATTACKS),
        key=lambda attack: ("CHM".index(attack.finding[0]), attack.finding),
    ),
)

ELSEWHERE = {
    "H2": "needs code in a parser: tests/api/parsers/test_escape.py",
    "M4": "needs the engine's socket: tests/engine/test_loop_hostile.py",
    "M5": "is about a log: tests/system/test_credentials.py",
    "M7": "is about the form of answers: tests/system/test_http_surface.py",
}
"""Why a finding has no attack here, and where its test is."""


def chosen_attacks(parts: list[str] | None) -> list[Attack]:
    """The attacks whose finding or name has one of these parts, after the quiet ones; without parts all."""
    wanted = [each for each in ATTACKS if not parts or any(part in f"{each.finding} {each.name}" for part in parts)]
    return list(dict.fromkeys((QUIET, *wanted)))
