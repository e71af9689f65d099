"""Processor time of the host for a document, by process: the whole service, with a device that answers at once.

The engine computes each text once and looks its scores up from then on (`service.engine.tools.replay_engine`), so that
entities are those of real texts and no device is measured. Processor time is read from the kernel, and does not count
what other programs of the machine do; wall time is not used, but for the two stages that the answers name themselves.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import psutil

from loadtest.bench.fixtures import publish
from loadtest.managed_service import BUILTIN, MODEL_FILES
from loadtest.scenario.workload import paragraph
from loadtest.service_process import KeptPort, clean_environment, is_ready, process_tree, settings_environment

TEXTS, WORDS, SEED = 128, 185, 11
BATCH_TOKENS = 8_192
"""Tokens of a batch, about as on a GPU whose batches are bounded by time."""
DOCUMENTS = 2_000
ROUNDS = 3
"""Rounds, of which the least is printed: other users of a machine make the same work dearer, never cheaper."""
LONE_DOCUMENTS = 300
DEVICES = {0: "at once", 5: "5 ms a batch"}
"""Names of the replaying device's least times, by milliseconds."""
CLIENTS = {1: 48, 16: 12}
"""Connections that ask without a pause, by documents a request."""
START_SECONDS = 120.0
PARTS = ("API worker", "engine's loop", "engine's compute threads", "others")


@dataclass(frozen=True, slots=True)
class RunTotals:
    """Sums over the answers of one run, and the seconds until the last one came."""

    documents: int
    seconds: float
    tokens: int
    entities: int
    stages: dict[str, list[float]]


def measure(home: Path) -> None:
    """Print milliseconds a document, with one and with sixteen documents a request, for both models."""
    draw = Random(SEED)
    texts = [paragraph(WORDS, draw) for _ in range(TEXTS)]
    models = {"documents": "the built-in model, all that it asks for", publish_bare(home): "its weights alone"}
    print("\n## Processor time of the host, milliseconds a document\n")
    heads = ("model", "device", "documents a request", "clients", "all", *PARTS, "tokens", "entities")
    print(f"| {' | '.join(heads)} | four cores feed |")
    print("|---|---|" + "---|" * len(heads[1:]))
    lone = [
        _measure(home, model, milliseconds, texts, f"{shown} | {device}")
        for model, shown in models.items()
        for milliseconds, device in DEVICES.items()
    ]
    print("\nOf the API worker's, median of single documents:\n")
    print("\n".join(f"- {line}" for line in lone))


def _measure(home: Path, model: str, milliseconds: int, texts: Sequence[str], name: str) -> str:
    """Print the rows of one service; returns what its answers say of their own stages."""
    with replaying_service(home, model, milliseconds) as service:
        _print_rows(service, texts, name)
        lone = asyncio.run(post_texts(service.port, texts, 1, 1, LONE_DOCUMENTS))
    stages = {stage: statistics.median(values) for stage, values in lone.stages.items()}
    return f"{name}: tokenizing {stages['tokenize_ms']:.3f}, decoding {stages['decode_ms']:.3f}"


def _print_rows(service: ReplayingService, texts: Sequence[str], name: str) -> None:
    asyncio.run(post_texts(service.port, texts, 1, 4, 4 * TEXTS))
    for size, clients in CLIENTS.items():
        rounds = [spent_by_part(service, texts, size, clients) for _ in range(ROUNDS)]
        spent, asked = min(rounds, key=lambda each: sum(each[0].values()))
        total = sum(spent.values())
        each = " | ".join(f"{milliseconds:.3f}" for milliseconds in spent.values())
        means = f"{asked.tokens / asked.documents:.0f} | {asked.entities / asked.documents:.1f}"
        print(f"| {name} | {size} | {clients} | {total:.3f} | {each} | {means} | {4000 / total:,.0f} |", flush=True)


@dataclass(frozen=True, slots=True)
class ReplayingService:
    port: int
    worker: psutil.Process
    engine: psutil.Process

    def cpu_seconds(self) -> dict[str, float]:
        """Processor seconds of each part up to now."""
        threads = {each.id: each.user_time + each.system_time for each in self.engine.threads()}
        tree = process_tree(self.worker.pid)
        spent = [sum(each.cpu_times()[:2]) for each in tree]
        worker = max(spent)
        loop = threads[self.engine.pid]
        return dict(zip(PARTS, (worker, loop, sum(threads.values()) - loop, sum(spent) - worker), strict=True))


def spent_by_part(
    service: ReplayingService, texts: Sequence[str], size: int, clients: int
) -> tuple[dict[str, float], RunTotals]:
    """Milliseconds a document by part, from at least DOCUMENTS documents."""
    before = service.cpu_seconds()
    asked = asyncio.run(post_texts(service.port, texts, size, clients, DOCUMENTS))
    after = service.cpu_seconds()
    return {part: 1000 * (after[part] - before[part]) / asked.documents for part in PARTS}, asked


@contextmanager
def replaying_service(
    home: Path,
    model: str,
    milliseconds: int,
    variables: Mapping[str, str] | None = None,
    /,
    *,
    name: str = "",
    **more: object,
) -> Iterator[ReplayingService]:
    """The service's own processes without its supervisor, which sleeps, and with the replaying engine.

    `name`: apart from others that run meanwhile; `variables`: of libraries; `more`: settings.
    """
    runtime, port = home / f"runtime-{model}-{milliseconds}{name}", KeptPort()
    (runtime / "metrics").mkdir(parents=True)
    settings = {"MODELS": model, "MODEL_STORE": home / "store", "RUNTIME_DIR": runtime, "PORT": port.number,
                "BATCH_TOKENS": BATCH_TOKENS, "WORKERS": 1, "MODEL_POLL_SECONDS": 0, **more}  # fmt: skip
    environment = {
        "GOMP_SPINCOUNT": "5000",
        **clean_environment(),
        **(variables or {}),
        **settings_environment(settings),
        "PROMETHEUS_MULTIPROC_DIR": str(runtime / "metrics"),
    }
    started: list[subprocess.Popen[bytes]] = []
    with (home / "host.log").open("ab") as log:
        try:
            for module in (("service.engine.tools.replay_engine", str(milliseconds)), ("service.api",)):
                command = [sys.executable, "-m", *module]
                started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            _wait_until_ready(f"http://127.0.0.1:{port.number}")
            yield ReplayingService(port.number, psutil.Process(started[1].pid), psutil.Process(started[0].pid))
        finally:
            for process in reversed(started):
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
                process.wait()


def _wait_until_ready(url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while not is_ready(url):
        if time.monotonic() > end:
            raise TimeoutError(f"the service was not ready within {START_SECONDS:.0f} s")
        time.sleep(0.1)


async def post_texts(port: int, texts: Sequence[str], size: int, clients: int, documents: int) -> RunTotals:
    """Post at least this many documents, each client without a pause."""
    groups = [[texts[(start + n) % len(texts)] for n in range(size)] for start in range(0, len(texts), size)]
    requests = [
        _request({"text": each[0]} if size == 1 else {"documents": [{"text": t} for t in each]}) for each in groups
    ]
    numbers = count()
    answers: list[bytes] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (number := next(numbers)) * size < documents:
            writer.write(requests[number % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            answers.append(await reader.readexactly(length))
        writer.close()

    begun = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    seconds = time.monotonic() - begun
    found = [json.loads(answer) for answer in answers]
    results = [document for answer in found for document in answer["documents"]]
    assert all(document["error"] is None for document in results), "every document is answered"
    stages = {name: [answer["timing"][name] for answer in found] for name in ("tokenize_ms", "decode_ms")}
    tokens, entities = (
        sum(values) for values in zip(*((d["tokens"], len(d["entities"])) for d in results), strict=True)
    )
    return RunTotals(len(results), seconds, tokens, entities, stages)


def _request(body: object) -> bytes:
    data = json.dumps(body).encode()
    fields = (
        "POST /extract HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
    )
    return "\r\n".join((*fields, "", "")).encode() + data


BARE = "bare"


def publish_bare(home: Path) -> str:
    """Publish the bare model into the store `home`/store, once; returns its name."""
    folder = home / BARE
    if not folder.exists():
        write_bare(folder)
        publish(folder, BARE, home / "store")
    return BARE


def write_bare(folder: Path) -> None:
    """Write the folder of the bare model."""
    folder.mkdir()
    for file in MODEL_FILES:
        shutil.copyfile(BUILTIN / file, folder / file)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(with_strange_labels(config)))


def with_strange_labels(config: dict[str, Any]) -> dict[str, Any]:
    """A model's configuration with types of entities that have no values: they are read by the labels' names."""
    labels = {number: _strange(label) for number, label in config["id2label"].items()}
    return {**config, "id2label": labels, "label2id": {label: int(number) for number, label in labels.items()}}


def _strange(label: str) -> str:
    prefix, hyphen, kind = label.partition("-")
    return f"{prefix}-BARE_{kind}" if hyphen else label
