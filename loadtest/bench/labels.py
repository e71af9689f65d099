"""Documents per second of a model with free labels over HTTP, against the `gliner` library and its own server.

The model has the shape of a GLiNER of DeBERTa-v3-base, and random weights; all get the same documents. The service
reads them whole; library and server read 384 words at most, so they are given them in pieces that fit. They compute in
float32, library and server at the library's best batch size. Each uses all cores in turn; figures of servers include
HTTP and JSON.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil

from loadtest.bench.fixtures import PipelineProcess, published, seconds_to_post, service, text_of, vocabulary
from loadtest.service_process import (
    START_SECONDS,
    KeptPort,
    clean_environment,
    process_tree,
    processes_running,
    usage,
)

MODEL = "gliner-span"
LABELS = (10, 50)
DOCUMENTS = 6
SHORTEST_WORDS, LONGEST_WORDS = 150, 4_000
PIECE_WORDS = 220
"""Words of the pieces that the library is given: with 50 labels about 500 tokens."""
BATCH_SIZES = (1, 4, 8)
SEARCHED = 8
"""Pieces by which the best batch size is found."""
CLIENTS = 6
ROUNDS = 2
THRESHOLD = 0.999
LIBRARY, SERVER = "loadtest.bench.gliner_library", "gliner.serve"
ROOT = Path(__file__).parents[2]
PYTHON = Path(sys.prefix) / "gliner" / "bin" / "python"
SERVER_OPTIONS = "--device cpu --dtype float32 --no-compile --num-gpus-per-replica 0 --request-timeout-s 600".split()
SERVER_PATH = "/gliner"
SERVER_ENVIRONMENT = {"GOMP_SPINCOUNT": "5000", "RAY_USAGE_STATS_ENABLED": "0"}
"""OpenMP threads spin as briefly as in the service: by default they starve the server's other processes."""
STOP_SECONDS = 20.0
DTYPES = ("auto", "int8")
"""Precisions of the service (GLEANER_DTYPE)."""


class Run(NamedTuple):
    """Documents per second, and bytes of memory: the library's most, and what a server's processes have then."""

    per_second: float
    memory_bytes: float


def measure(home: Path) -> None:
    """Print a row for each number of labels and each software."""
    if not PYTHON.exists():
        raise SystemExit(f"the library is not installed in {PYTHON.parents[1]}; `make .venv/.gliner` does it")
    print("\n## Free labels, CPU\n")
    heads = ("labels", "software", "documents a second", "GiB", "÷ library in each round")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    texts = documents()
    folder = published(home, MODEL)
    for count in LABELS:
        runs = _runs(home, folder, texts, vocabulary(count, seed=count))
        library, *_ = runs.values()
        for software, found in runs.items():
            per_second = statistics.median(each.per_second for each in found)
            memory = max(each.memory_bytes for each in found) / 2**30
            ratios = (each.per_second / other.per_second for each, other in zip(found, library, strict=True))
            shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"| {count} | {software} | {per_second:.2f} | {memory:.1f} | {shown} |", flush=True)


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


def _runs(home: Path, folder: Path, texts: list[str], labels: list[str]) -> dict[str, list[Run]]:
    """Runs of each software, by round; the library is first."""
    parts = [part for text in texts for part in pieces(text)]
    with ExitStack() as stack:
        library = stack.enter_context(closing(PipelineProcess(LIBRARY, str(folder), python=str(PYTHON))))
        size = max(BATCH_SIZES, key=lambda each: _ask_library(library, parts[:SEARCHED], labels, each, 1).per_second)
        contenders: dict[str, Callable[[], Run]] = {
            f"`gliner`, batches of {size}": partial(_ask_library, library, parts, labels, size, len(texts))
        }
        port = KeptPort()
        url, bodies = f"http://127.0.0.1:{port.number}", [_body(part, labels, "threshold") for part in parts]
        cores = str(os.cpu_count() or 1)
        options = [*SERVER_OPTIONS, "--port", str(port.number), "--max-batch-size", str(size)]
        options += ["--num-cpus-per-replica", cores, "--tokenizer-threads", cores]  # torch's threads, 4 by default.
        command = [str(PYTHON), "-m", SERVER, "--model", str(folder), *options]
        stack.enter_context(running(command, url + SERVER_PATH, bodies[0], home / "gliner.log"))
        (root, *_) = (each.pid for each in processes_running(SERVER, os.getpid()))
        contenders["`gliner.serve`"] = partial(_ask, url + SERVER_PATH, root, bodies, len(parts), len(texts))
        whole = [_body(text, labels, "min_score") | {"deadline_ms": 600_000} for text in texts]
        for dtype in DTYPES:
            ours = stack.enter_context(service(home, MODELS=MODEL, DTYPE=dtype))
            ask = partial(_ask, ours.url + "/extract", ours.process.pid, whole, CLIENTS, len(texts))
            with httpx.Client(base_url=ours.url) as client:
                (model,) = client.get("/models").json()["models"]
            ask()
            contenders[f"service, {model['dtype']}"] = ask
        rounds = [{software: each() for software, each in contenders.items()} for _ in range(ROUNDS)]
    return {software: [each[software] for each in rounds] for software in contenders}


def _body(text: str, labels: list[str], limit: str) -> dict[str, Any]:
    return {"text": text, "labels": labels, limit: THRESHOLD}


def _ask_library(library: PipelineProcess, parts: list[str], labels: list[str], size: int, texts: int) -> Run:
    answer = library.ask(texts=parts, labels=labels, threshold=THRESHOLD, batch_size=size)
    return Run(texts / answer["seconds"], answer["peak_bytes"])


def _ask(url: str, root: int, bodies: list[dict[str, Any]], at_once: int, texts: int) -> Run:
    """Send all bodies to a server, whose first process is `root`."""
    per_second = texts / seconds_to_post(url, bodies, at_once)
    return Run(per_second, usage(root).memory_bytes)


@contextmanager
def running(command: list[str], url: str, probe: Mapping[str, object], log: Path) -> Iterator[None]:
    """Run a server that has answered a probe once; all its processes are gone at the end."""
    environment = {**SERVER_ENVIRONMENT, **clean_environment(), "PYTHONPATH": str(ROOT)}
    with log.open("ab") as sink:
        process = subprocess.Popen(
            command, env=environment, stdout=sink, stderr=sink, start_new_session=True, cwd=log.parent
        )
    try:
        _wait_until_it_answers(url, probe, process, log)
        yield
    finally:
        _end(process)


def _wait_until_it_answers(url: str, probe: Mapping[str, object], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.post(url, json=probe, timeout=60.0).status_code == 200:
                return
        time.sleep(0.1)
    raise SystemExit(f"the server did not answer within {START_SECONDS:.0f} s:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, then SIGKILL to every process of its tree and of its process group that is left."""
    tree = process_tree(process.pid)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for child in tree:
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(child.pid) == process.pid:
                child.kill()
    process.wait()
