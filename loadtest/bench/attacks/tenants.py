"""Attacks by keys and by what one client asks for: guessed, revoked, spoilt, greedy (H4, H5, M6)."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from dataclasses import replace
from random import Random

from loadtest.bench.attacks.attack import Attack
from loadtest.bench.attacks.callers import ask, ask_on
from loadtest.bench.attacks.target import ATTACKER, NEIGHBOUR, Target, attackers_job
from loadtest.client.http import HttpClient
from loadtest.workload.mix import JSON, Job
from loadtest.workload.prose import paragraph

REVOKED_SECONDS = 2.0
"""After so long a revoked key may not be good any more."""
SHORT = json.dumps({"text": "Jane Doe of Acme GmbH"}).encode()
GIANT_WORDS = 130_000
BATCH = 50
QUEUE_TOKENS = 50_000


async def _guess(target: Target, end: float) -> None:
    numbers = itertools.count()

    def guess() -> Job:
        return replace(attackers_job(SHORT, JSON), headers=(("X-API-Key", f"guess-{next(numbers)}"),))

    await ask_on(target, guess, 32, end)


async def _revoked(target: Target, end: float) -> None:
    """The key is taken out of the file after a third of the time; the answers are counted by when they came."""
    begun = time.monotonic()
    revoked = begun + (end - begun) / 3
    is_revoked = False
    async with HttpClient(target.url, most=1, timeout_seconds=30.0) as client:
        while time.monotonic() < end:
            if not is_revoked and time.monotonic() >= revoked:
                target.write_keys(NEIGHBOUR)
                is_revoked = True
            asked = time.monotonic()
            answer = await ask(client, attackers_job(SHORT, JSON))
            target.answers[f"{answer} {_when(asked - revoked)}"] += 1
            await asyncio.sleep(0.02)


def _when(seconds: float) -> str:
    """When a request was sent, by the seconds since its key was revoked."""
    return "before" if seconds < 0 else "within 2 s" if seconds < REVOKED_SECONDS else "later"


async def _spoil_keys(target: Target, end: float) -> None:
    """The keys file is no keys file; the good ones are in force all the same."""
    target.keys.write_text("what is this\n")
    try:
        await ask_on(target, lambda: attackers_job(SHORT, JSON), 1, end)
    finally:
        target.write_keys(ATTACKER, NEIGHBOUR)


async def _giant(target: Target, end: float) -> None:
    job = attackers_job(json.dumps({"text": paragraph(GIANT_WORDS, Random("giant"))}).encode(), JSON)
    await ask_on(target, lambda: job, 1, end)


async def _batches(target: Target, end: float) -> None:
    texts = [{"text": paragraph(400, Random(number))} for number in range(BATCH)]
    job = attackers_job(json.dumps({"documents": texts}).encode(), JSON)
    await ask_on(target, lambda: job, 6, end)


ATTACKS = (
    Attack("one document three times as long as the queue", "H4", _giant, {"QUEUE_LIMIT_TOKENS": QUEUE_TOKENS}),
    Attack("batches of one client, 6 callers without a pause", "H4", _batches),
    Attack("a key that is revoked", "H5", _revoked, {"WORKERS": 2}),
    Attack("a spoilt keys file", "H5", _spoil_keys),
    Attack("wrong keys, 32 callers", "M6", _guess),
)
