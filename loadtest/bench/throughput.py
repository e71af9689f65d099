"""Documents per second over HTTP against transformers' pipeline: same weights, same documents, in alternation.

The service runs with its defaults (bfloat16 where the CPU is fast at it), and once more in 8-bit integers where the CPU
has VNNI; its figure includes HTTP, tokenizing and decoding. The pipeline runs in float32, its default, at its best
batch size; its figure includes tokenizing and decoding. Clients send eight documents per request, from the same cores.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any

import httpx

from loadtest.bench.fixtures import PipelineProcess, published, service, texts

BATCH_SIZES = (1, 2, 4, 8, 16, 32)
CLIENTS = 6
DOCUMENTS_PER_REQUEST = 8
ROUNDS = 3
DOCUMENTS = {"six-layer": 1440, "bert-base": 480}
"""Documents of a round, so many that the last batches, which leave a core idle, hardly count."""
SEARCHED = 10
"""Ratio of all documents to those with which the best batch size is searched."""
CPUINFO = Path("/proc/cpuinfo")
DIFFERENCES = ("largest score difference", "entities that differ")
Entity = dict[str, Any]
Run = tuple[float, list[list[Entity]]]
"""Documents per second, and each document's entities."""


def measure(home: Path) -> None:
    """Print a row for each model and precision."""
    print("\n## Documents per second, CPU\n")
    heads = ("model", "pipeline's best", "at batch size", "precision", "ours over HTTP", "ratio in each round")
    print("| " + " | ".join(heads + DIFFERENCES) + " |")
    print("|---|---|---|---|---|---|---|---|")
    for shape, count in DOCUMENTS.items():
        for row in _rows(shape, count, home):
            print(row, flush=True)


def _rows(shape: str, count: int, home: Path) -> list[str]:
    model = published(home, shape)
    sample = texts(count)
    theirs: list[Run] = []
    with ExitStack() as stack:
        module = "loadtest.bench.transformers_pipeline"
        pipeline = stack.enter_context(closing(PipelineProcess(module, str(model))))
        best = max(BATCH_SIZES, key=lambda size: _ask_pipeline(pipeline, size, sample[: count // SEARCHED])[0])
        services = {name: stack.enter_context(service(home, MODELS=shape, DTYPE=name)) for name in precisions()}
        for running in services.values():
            _ask_service(running.url, sample)
        ours: dict[str, list[Run]] = {name: [] for name in services}
        for _ in range(ROUNDS):
            theirs.append(_ask_pipeline(pipeline, best, sample))
            for name, running in services.items():
                ours[name].append(_ask_service(running.url, sample))
    return [_row(f"{shape} | {_median(theirs):.1f} | {best} | {name}", theirs, runs) for name, runs in ours.items()]


def _row(start: str, theirs: list[Run], ours: list[Run]) -> str:
    ratios = ", ".join(f"{mine[0] / other[0]:.2f}" for other, mine in zip(theirs, ours, strict=True))
    difference, differing = _compare(theirs[0][1], ours[0][1])
    return f"| {start} | {_median(ours):.1f} | {ratios} | {difference:.4f} | {differing:.2%} |"


def _median(runs: list[Run]) -> float:
    return statistics.median(run[0] for run in runs)


def precisions() -> list[str]:
    """The values of GLEANER_DTYPE to measure: 8-bit integers only on CPUs with VNNI."""
    flags = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    return ["auto", "int8"] if "avx512_vnni" in flags or "avx_vnni" in flags else ["auto"]


def _ask_pipeline(pipeline: PipelineProcess, batch_size: int, sample: list[str]) -> Run:
    answer = pipeline.ask(batch_size=batch_size, texts=sample)
    return len(sample) / answer["seconds"], answer["entities"]


def _ask_service(url: str, sample: list[str]) -> Run:
    requests = [sample[i : i + DOCUMENTS_PER_REQUEST] for i in range(0, len(sample), DOCUMENTS_PER_REQUEST)]
    with httpx.Client(base_url=url, timeout=300.0) as client, ThreadPoolExecutor(CLIENTS) as clients:
        began = time.perf_counter()
        answers = list(clients.map(lambda some: _extract(client, some), requests))
        seconds = time.perf_counter() - began
    return len(sample) / seconds, [document["entities"] for document in chain(*answers)]


def _extract(client: httpx.Client, some: list[str]) -> list[dict[str, Any]]:
    body = {"documents": [{"text": text} for text in some], "aggregation": "simple"}
    documents: list[dict[str, Any]] = client.post("/extract", json=body).raise_for_status().json()["documents"]
    return documents


def _compare(theirs: list[list[Entity]], ours: list[list[Entity]]) -> tuple[float, float]:
    """The largest difference in score of a common entity, and the share of entities that only one of two runs has."""
    found = [{(number, e["label"], e["start"], e["end"]): e["score"] for number, entities in enumerate(run)
              for e in entities} for run in (theirs, ours)]  # fmt: skip
    both = found[0].keys() & found[1].keys()
    either = found[0].keys() | found[1].keys()
    return max(abs(found[0][key] - found[1][key]) for key in both), 1 - len(both) / len(either)
