"""`python -m loadtest.bench.attacks.observer URL PROCESS KEY PROBED`: another client, a health check, a memory scale.

A process of its own, which does nothing else, so that what an attacker's process does is not taken for the service's.
It reads lines such as `{"seconds": 20, "rate": 8, "sends": "text"}`, observes for so long, prints an `Observation`.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import msgspec

from loadtest.bench.attacks.figures import Observation
from loadtest.bench.attacks.wire import SILENCE, connected, head
from loadtest.client.http import HttpClient
from loadtest.records.answer import read_answer
from loadtest.telemetry.process_usage import usage
from loadtest.workload.mix import JSON, PDF, Job
from loadtest.workload.pdf import make_pdf
from loadtest.workload.prose import paragraph

WORDS = 40
TEXTS = 50
MOST_REQUESTS = 1_000
TIMEOUT_SECONDS = 60.0
LIVEZ_PERIOD_SECONDS = 0.1
LIVEZ_TIMEOUT_SECONDS = 30.0
MEMORY_PERIOD_SECONDS = 0.25


@dataclass(slots=True)
class _Seen:
    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    livez_seconds: list[float] = field(default_factory=list)
    livez_failed: int = 0
    peak_bytes: int = 0

    def observation(self) -> Observation:
        return Observation(
            self.seconds, self.refused, dict(self.lost), self.livez_seconds, self.livez_failed, self.peak_bytes
        )


async def observe(url: str, process: int, jobs: list[Job], seconds: float, rate: float, probed: str) -> Observation:
    """Send these jobs in turn at this rate, ask for `/livez` and weigh the service; wait for every answer."""
    seen, over = _Seen(), threading.Event()
    weighing = threading.Thread(target=_weigh, args=(process, seen, over))
    weighing.start()
    try:
        async with (
            HttpClient(url, most=MOST_REQUESTS, timeout_seconds=TIMEOUT_SECONDS) as client,
            asyncio.TaskGroup() as tasks,
        ):
            begun = time.monotonic()
            for number in range(int(seconds * rate)):
                tasks.create_task(_ask(client, jobs[number % len(jobs)], begun + number / rate, seen))
            for number in range(int(seconds / LIVEZ_PERIOD_SECONDS)):
                tasks.create_task(_ask_livez(probed, begun + number * LIVEZ_PERIOD_SECONDS, seen))
    finally:
        over.set()
        weighing.join()
    return seen.observation()


def make_jobs(sends: str, key: str) -> list[Job]:
    """Short requests of the client with this key: texts, or `pdf`s of a page."""
    draw, headers = Random("neighbour"), (("Authorization", f"Bearer {key}"),)
    texts = [paragraph(WORDS, draw) for _ in range(TEXTS)]
    if sends == "pdf":
        return [Job("pdf", make_pdf(text), PDF, headers=headers) for text in texts]
    return [Job("text", json.dumps({"text": text}).encode(), JSON, headers=headers) for text in texts]


async def _ask(client: HttpClient, job: Job, due: float, seen: _Seen) -> None:
    await asyncio.sleep(due - time.monotonic())
    answer = read_answer(await client.post(job))
    if answer.outcome == "ok":
        seen.seconds.append(time.monotonic() - due)
    elif answer.typed and not math.isnan(answer.retry_after_seconds):
        seen.refused += 1
    else:
        seen.lost[answer.outcome] += 1


async def _ask_livez(url: str, due: float, seen: _Seen) -> None:
    """Over a connection of its own, as balancers do."""
    await asyncio.sleep(due - time.monotonic())
    answer = SILENCE
    try:
        async with asyncio.timeout(LIVEZ_TIMEOUT_SECONDS), connected(url) as connection:
            connection.send(head("GET", "/livez", (("Connection", "close"),)))
            answer = await connection.answer()
    except OSError:  # TimeoutError is one.
        pass
    seen.livez_seconds.append(time.monotonic() - due)
    seen.livez_failed += answer != "200 ok"


def _weigh(process: int, seen: _Seen, over: threading.Event) -> None:
    while not over.wait(MEMORY_PERIOD_SECONDS):
        seen.peak_bytes = max(seen.peak_bytes, usage(process).memory_bytes)


def main() -> None:
    """Observe as often as a line asks for it."""
    url, process, key, probed = sys.argv[1:]
    print("{}", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        jobs = make_jobs(asked["sends"], key)
        seen = asyncio.run(observe(url, int(process), jobs, asked["seconds"], asked["rate"], probed))
        print(msgspec.json.encode(seen).decode(), flush=True)


if __name__ == "__main__":
    main()
