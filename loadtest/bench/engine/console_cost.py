"""What ten open consoles take of a service at full load: processor time for a document, with and without them.

The device answers at once (`host_cost`), so that a document costs the host nearly all that there is, and what the
consoles take shows most. Rounds without and with them alternate; what the consoles' browsers take is not counted.
Consoles take their time by the second, documents by the document: on a machine that does other work meanwhile fewer
documents share it, so the last column says it by the second.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import httpx

from loadtest.bench.engine.host_cost import SEED, TEXTS, WORDS, replaying_service, spent_by_part
from loadtest.workload.prose import paragraph

CONSOLES = (0, 10)
ROUNDS = 7
SIZE, CLIENTS = 16, 12


def measure(home: Path) -> None:
    """Print milliseconds a document by open consoles."""
    draw = Random(SEED)
    texts = [paragraph(WORDS, draw) for _ in range(TEXTS)]
    spent: dict[int, list[float]] = {count: [] for count in CONSOLES}
    rates: dict[int, list[float]] = {count: [] for count in CONSOLES}
    with replaying_service(home, "documents", 0) as service:
        spent_by_part(service, texts, SIZE, CLIENTS)
        for _ in range(ROUNDS):
            for count in CONSOLES:
                with _watching(f"http://127.0.0.1:{service.port}/console/live", count):
                    begun = time.monotonic()
                    parts, asked = spent_by_part(service, texts, SIZE, CLIENTS)
                    rates[count].append(asked.documents / (time.monotonic() - begun))
                spent[count].append(sum(parts.values()))
    print("\n## Consoles that watch, milliseconds of the host a document\n")
    print("| open consoles | least | median | beside none | of a core |\n|---|---|---|---|---|")
    for count in CONSOLES:
        change = statistics.median(b / a - 1 for a, b in zip(spent[0], spent[count], strict=True))
        least, median = min(spent[count]), statistics.median(spent[count])
        added = (median - statistics.median(spent[0])) / 1000 * statistics.median(rates[count])
        print(f"| {count} | {least:.3f} | {median:.3f} | {change:+.1%} | {added:.1%} |", flush=True)


@contextmanager
def _watching(url: str, count: int) -> Iterator[None]:
    """So many readers of the live feed."""
    ended = threading.Event()
    readers = [threading.Thread(target=_watch, args=(url, ended)) for _ in range(count)]
    for each in readers:
        each.start()
    try:
        yield
    finally:
        ended.set()
        for each in readers:
            each.join()


def _watch(url: str, ended: threading.Event) -> None:
    with httpx.Client() as client, client.stream("GET", url) as answer:
        for _ in answer.raise_for_status().iter_raw():
            if ended.is_set():
                return
