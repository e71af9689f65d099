"""`python -m tests.rehearsal.predictions`: what the whole service makes of modelled GPUs, over HTTP.

One client floods it with batches, which keeps the queue full, and another posts a short text at a time. Printed:
how busy the device was, documents per second, how long a batch took, what the short text waited, what the host spent.
Device times are modelled (README.md): a row says whether this host keeps such a device busy and in which order work is
done, not how fast a GPU is. Example: `python -m tests.rehearsal.predictions --device T4 --model bert-large`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from unittest.mock import patch

import httpx

from loadtest.bench.fixtures import published, service, texts
from loadtest.telemetry.process_usage import usage
from tests.rehearsal import environment
from tests.rehearsal.devices import DEVICES, Device
from tests.rehearsal.raw_connection import CLOSED, RawConnection, connected, head
from tests.rehearsal.state import DeviceState

MODELS = ("bert-base", "bert-large")
TEXTS, SHORT_CHARACTERS = 128, 80
DOCUMENTS_A_REQUEST = 16
CLIENTS = 24
PAUSE_SECONDS = (0.05, 0.15)
"""Between two texts of the interactive client, drawn: a constant pause would keep step with a model's equal batches."""
SETTLE_SECONDS = 5.0
ANSWER_SECONDS = 300.0
SECONDS = 40.0
FLOOD, INTERACTIVE = "flood", "interactive"
KEYS = "\n".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}" for name in (FLOOD, INTERACTIVE))
COUNTERS = ("gleaner_busy_seconds_total", "gleaner_batches_total", "gleaner_tokens_total")
COLUMNS = (
    ("device", "{device}"),
    ("model", "{model}"),
    ("busy", "{busy:.0%}"),
    ("documents/s", "{documents:.0f}"),
    ("tokens/s", "{tokens:,.0f}"),
    ("batch, ms", "{batch_ms:.0f}"),
    ("short text p50, ms", "{p50_ms:.0f}"),
    ("p99, ms", "{p99_ms:.0f}"),
    ("p99 in batches", "{p99_batches:.1f}"),
    ("host, ms a document", "{host_ms:.2f}"),
    ("refused", "{refused}"),
)


@dataclass(slots=True)
class Load:
    """What the clients saw between `begin` and the end; times in seconds."""

    url: str
    texts: Sequence[str]
    measured: bool = False
    ended: bool = False
    documents: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)

    async def flood(self, number: int) -> None:
        """Post one batch after the other."""
        async with connected(self.url) as connection:
            while not self.ended:
                begin = number * DOCUMENTS_A_REQUEST
                texts = [self.texts[(begin + n) % len(self.texts)] for n in range(DOCUMENTS_A_REQUEST)]
                answered = await self._post(connection, FLOOD, {"documents": [{"text": text} for text in texts]})
                self.documents += DOCUMENTS_A_REQUEST if answered and self.measured else 0
                number += CLIENTS

    async def interact(self) -> None:
        """Post a short text, look at the answer for a moment, and so on."""
        draw = Random(INTERACTIVE)
        async with connected(self.url) as connection:
            while not self.ended:
                text = self.texts[len(self.waits) % len(self.texts)][:SHORT_CHARACTERS]
                asked = time.monotonic()
                if await self._post(connection, INTERACTIVE, {"text": text}) and self.measured:
                    self.waits.append(time.monotonic() - asked)
                await asyncio.sleep(draw.uniform(*PAUSE_SECONDS))

    async def _post(self, connection: RawConnection, key: str, body: object) -> bool:
        """Post over a plain connection, which leaves nearly all of the cores to the service."""
        data = json.dumps(body).encode()
        fields = (("X-API-Key", key), ("Content-Type", "application/json"))
        connection.send(head("POST", "/extract", fields, len(data)) + data)
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await connection.answer()
        assert answer != CLOSED, "a connection was closed without an answer"
        self.refused += self.measured and answer != "200 ok"
        return answer == "200 ok"


def documents(length: int) -> list[str]:
    """Documents of so many texts each."""
    some = texts(TEXTS)
    return [" ".join(some[(number + n) % TEXTS] for n in range(length)) for number in range(TEXTS)]


def predict(device: Device, model: str, home: Path, seconds: float, length: int = 1) -> dict[str, object]:
    """The figures of one device with one model, and documents of so many texts."""
    folder = home / f"{device.name}-{model}"
    with on_device(device, folder), service(home, **settings(model)) as running:
        load = Load(running.url, documents(length))
        read = _counters(running.url, running.process.pid)
        before, after, elapsed = asyncio.run(_drive(load, read, seconds))
    busy, batches, tokens, host = (last - first for first, last in zip(before, after, strict=True))
    batch_ms = 1_000 * busy / max(batches, 1)
    cuts = statistics.quantiles(load.waits, n=100)
    return {
        "device": device.name,
        "model": model,
        "busy": busy / elapsed,
        "documents": load.documents / elapsed,
        "tokens": tokens / elapsed,
        "batch_ms": batch_ms,
        "p50_ms": 1_000 * cuts[49],
        "p99_ms": 1_000 * cuts[98],
        "p99_batches": 1_000 * cuts[98] / batch_ms,
        "host_ms": 1_000 * host / max(load.documents, 1),
        "refused": load.refused,
    }


def settings(model: str) -> dict[str, object]:
    """Of the service: both clients have a key, so that the queue is shared between them."""
    return {"MODELS": model, "DEVICE": "cuda", "API_KEYS": KEYS, "WORKERS": 1}


@contextmanager
def on_device(device: Device, folder: Path) -> Iterator[None]:
    """Processes that are started meanwhile run on this device."""
    names = {**environment.ENGINE_VARIABLES, **environment.variables(device, folder)}
    DeviceState(device, folder)
    with patch.dict(os.environ, names), patch.object(sys, "executable", str(environment.PYTHON)):
        yield


def _counters(url: str, root: int) -> Callable[[], tuple[float, ...]]:
    """Reads the engine's counters, and the processor seconds of the service's processes."""

    def read() -> tuple[float, ...]:
        lines = httpx.get(f"{url}/metrics", timeout=30.0, verify=False).text.splitlines()
        sums = (sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)) for name in COUNTERS)
        return (*sums, usage(root).cpu_seconds)

    return read


async def _drive(
    load: Load, read: Callable[[], tuple[float, ...]], seconds: float
) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    tasks = [asyncio.create_task(load.flood(number)) for number in range(CLIENTS)]
    tasks.append(asyncio.create_task(load.interact()))
    await asyncio.sleep(SETTLE_SECONDS)
    before, began = await asyncio.to_thread(read), time.monotonic()
    load.measured = True
    await asyncio.sleep(seconds)
    after, elapsed = await asyncio.to_thread(read), time.monotonic() - began
    load.measured, load.ended = False, True
    await asyncio.gather(*tasks)
    return before, after, elapsed


def main() -> int:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal.predictions", description=__doc__)
    parser.add_argument("--device", action="append", choices=DEVICES, help="may be repeated (default: all)")
    parser.add_argument("--model", action="append", choices=MODELS, help="may be repeated (default: both)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"a row (default: {SECONDS:.0f})")
    parser.add_argument("--texts", type=int, default=1, help="in a document, of 169 tokens on average (default: 1)")
    chosen = parser.parse_args()
    if not environment.is_there():
        parser.error("there is no rehearsal's environment; run `make .venv/.rehearsal`")
    print(" | ".join(["", *(name for name, _ in COLUMNS), ""]).strip())
    print("|---" * len(COLUMNS) + "|", flush=True)
    with tempfile.TemporaryDirectory(prefix="gleaner-predictions-") as home:
        for model in chosen.model or MODELS:
            published(Path(home), model)
            for name in chosen.device or DEVICES:
                figures = predict(DEVICES[name], model, Path(home), chosen.seconds, chosen.texts)
                print("| " + " | ".join(form.format(**figures) for _, form in COLUMNS) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
