"""Fixtures of the benchmarks: seeded texts, published models, the service, and the pipeline in a process of its own."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import httpx

from loadtest.service_process import ServiceProcess, clean_environment, settings_environment

SYLLABLES = (
    "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te".split()
)
LEAN = {"PYTORCH_ALLOC_CONF": "expandable_segments:True", "LRU_CACHE_CAPACITY": "16"}
"""The environment in which the service starts its engines."""
MEDIAN_WORDS = 95
SPREAD = 0.55


def vocabulary(count: int, seed: int = 0) -> list[str]:
    """Distinct made-up words of two to four syllables."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4)))] = None
    return list(words)


def texts(count: int, seed: int = 0) -> list[str]:
    """Texts whose lengths are log-normal, as those of real documents are: about 160 tokens on average, at most 500."""
    draw = random.Random(seed)
    words = vocabulary(4_000)
    lengths = (min(int(draw.lognormvariate(math.log(MEDIAN_WORDS), SPREAD)) + 1, 300) for _ in range(count))
    return [text_of(draw, words, length) for length in lengths]


def text_of(draw: random.Random, words: list[str], length: int) -> str:
    """A text in which the tokenizer splits some unknown words, and one word in eight ends a sentence."""
    picked = (word + draw.choice(("", "", "s")) for word in draw.choices(words, k=length))
    return " ".join(word + "." if draw.random() < 1 / 8 else word for word in picked)


def run_module(module: str, *arguments: str) -> None:
    """Run a module of this project to its end."""
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, check=True, env=clean_environment(), stdout=subprocess.DEVNULL)


def run_tool(home: Path, module: str, *arguments: str, **settings: object) -> dict[str, Any]:
    """The JSON that a tool of the engine prints; its models come from the store `home`/store."""
    environment = {**clean_environment(), **LEAN, **settings_environment({"MODEL_STORE": home / "store", **settings})}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], env=environment, stdout=subprocess.PIPE, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def publish(folder: Path, name: str, store: Path, *options: str) -> None:
    run_module("service.cli", "models", "publish", str(folder), name, "--store", str(store), *options)


def published(home: Path, shape: str) -> Path:
    """The folder of a random model of this shape, which is also in the store `home`/store under that name."""
    folder = home / shape
    if not folder.exists():
        run_module("loadtest.bench.random_models", shape, str(folder))
        publish(folder, shape, home / "store")
    return folder


def service(home: Path, variables: Mapping[str, str] | None = None, /, **settings: object) -> ServiceProcess:
    """A service with these settings and no others; `variables` are environment variables of libraries."""
    ours = settings_environment({"LOG_LEVEL": "WARNING", "MODEL_STORE": home / "store", **settings})
    return ServiceProcess(home / "bench.log", {**clean_environment(), **(variables or {}), **ours})


def seconds_to_post(url: str, bodies: Sequence[object], at_once: int) -> float:
    """Post all bodies as JSON, `at_once` at a time without a pause; returns the seconds until all are answered."""
    with httpx.Client(timeout=600.0) as client, ThreadPoolExecutor(at_once) as clients:
        began = time.perf_counter()
        for response in clients.map(lambda body: client.post(url, json=body), bodies):
            response.raise_for_status()
        return time.perf_counter() - began


class PipelineProcess:
    """A process that answers each JSON line on its stdin with a JSON line on its stdout."""

    def __init__(self, module: str, *arguments: str, python: str = sys.executable) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            text=True,
        )
        self.greeting = self._read()

    def ask(self, **request: object) -> dict[str, Any]:
        """Send a request; returns its answer."""
        sink = self._process.stdin
        assert sink is not None
        sink.write(json.dumps(request) + "\n")
        sink.flush()
        return self._read()

    def close(self) -> None:
        with self._process:  # Its pipes are closed too.
            self._process.terminate()
            self._process.wait(30)

    def _read(self) -> dict[str, Any]:
        source: IO[str] | None = self._process.stdout
        assert source is not None
        answer: dict[str, Any] = json.loads(source.readline())
        return answer
