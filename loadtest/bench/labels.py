"""Documents per second of a model with free labels over HTTP, against the `gliner` library: same weights and documents.

The model has the shape of a GLiNER of DeBERTa-v3-base, and random weights. The service reads documents whole; the
library reads 384 words and 512 tokens at most, so it is given them in pieces that fit, at its best batch size, in
float32 (its default) and bfloat16. Both use all cores in turn; the service's figure includes HTTP and JSON.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import httpx

from loadtest.bench.fixtures import PipelineProcess, published, service, text_of, vocabulary
from loadtest.service_process import usage

MODEL = "gliner-span"
LABELS = (10, 50)
DOCUMENTS = 12
SHORTEST_WORDS, LONGEST_WORDS = 150, 4_000
PIECE_WORDS = 220
"""Of what the library is given at once: with 50 labels about 500 tokens."""
BATCH_SIZES = (1, 4, 8)
SEARCHED = 8
"""Pieces by which the best batch size is found."""
CLIENTS = 6
ROUNDS = 2
THRESHOLD = 0.999
LIBRARY = "loadtest.bench.peers.servers.gliner_library"
PYTHON = Path(sys.prefix) / "gliner" / "bin" / "python"
DTYPES = ("float32", "bfloat16")


class Run(NamedTuple):
    """Documents per second, and bytes of memory: the library's most, and what the service's processes have then."""

    per_second: float
    memory_bytes: float


def measure(home: Path) -> None:
    """Print a row for each number of labels and each precision of the library."""
    if not PYTHON.exists():
        raise SystemExit(f"the library is not installed in {PYTHON.parents[1]}; `make .venv/.gliner` does it")
    print("\n## Free labels, CPU\n")
    heads = ("labels", "library", "at batch size", "a second", "GiB", "ours a second", "GiB", "ratio in each round")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    texts = documents()
    folder = published(home, MODEL)
    for count in LABELS:
        for row in _rows(home, folder, texts, vocabulary(count, seed=count)):
            print(row, flush=True)


def documents(count: int = DOCUMENTS) -> list[str]:
    """Texts whose lengths are spread evenly over the orders of magnitude, in any order."""
    draw = random.Random(3)
    step = math.log(LONGEST_WORDS / SHORTEST_WORDS) / (count - 1)
    words = vocabulary(4_000)
    texts = [text_of(draw, words, round(SHORTEST_WORDS * math.exp(step * number))) for number in range(count)]
    draw.shuffle(texts)
    return texts


def pieces(text: str) -> list[str]:
    """A text in parts that the library reads in full."""
    words = text.split()
    return [" ".join(words[begin : begin + PIECE_WORDS]) for begin in range(0, len(words), PIECE_WORDS)]


def _rows(home: Path, folder: Path, texts: list[str], labels: list[str]) -> list[str]:
    rows = []
    for dtype in DTYPES:
        with ExitStack() as stack:
            running = stack.enter_context(service(home, MODELS=MODEL))
            library = stack.enter_context(
                closing(PipelineProcess(LIBRARY, str(folder), "--dtype", dtype, python=str(PYTHON)))
            )
            parts = [part for text in texts for part in pieces(text)]
            best = max(
                BATCH_SIZES, key=lambda size: _ask_library(library, parts[:SEARCHED], labels, size, 1).per_second
            )
            _ask_service(running.url, running.process.pid, texts[:CLIENTS], labels)
            theirs, ours = [], []
            for _ in range(ROUNDS):
                theirs.append(_ask_library(library, parts, labels, best, len(texts)))
                ours.append(_ask_service(running.url, running.process.pid, texts, labels))
        ratios = ", ".join(
            f"{mine.per_second / other.per_second:.2f}" for mine, other in zip(ours, theirs, strict=True)
        )
        rows.append(f"| {len(labels)} | {dtype} | {best} | {_figures(theirs)} | {_figures(ours)} | {ratios} |")
    return rows


def _figures(runs: list[Run]) -> str:
    per_second = statistics.median(run.per_second for run in runs)
    return f"{per_second:.2f} | {max(run.memory_bytes for run in runs) / 2**30:.1f}"


def _ask_library(library: PipelineProcess, parts: list[str], labels: list[str], size: int, texts: int) -> Run:
    answer = library.ask(texts=parts, labels=labels, threshold=THRESHOLD, batch_size=size)
    return Run(texts / answer["seconds"], answer["peak_bytes"])


def _ask_service(url: str, root: int, texts: list[str], labels: list[str]) -> Run:
    with httpx.Client(base_url=url, timeout=600.0) as client, ThreadPoolExecutor(CLIENTS) as clients:

        def ask(text: str) -> None:
            body = {"text": text, "labels": labels, "min_score": THRESHOLD, "deadline_ms": 600_000}
            client.post("/extract", json=body).raise_for_status()

        began = time.perf_counter()
        list(clients.map(ask, texts))
        seconds = time.perf_counter() - began
    return Run(len(texts) / seconds, usage(root).memory_bytes)
