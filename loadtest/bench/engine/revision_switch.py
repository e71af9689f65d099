"""Ten new revisions of one model under load: failed requests, answers of a wrong revision, and what callers felt.

What a revision finds in each text is asked of it by its digest, once it serves.
"""

from __future__ import annotations

import shutil
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from loadtest.bench.fixtures import publish, run_module, serve
from loadtest.bench.texts import texts

SHAPES = ("six-layer", "bert-base")
SWAPS = 10
CALLERS = 3
CALM_SECONDS = 5.0
"""Under load between two swaps."""
TEXTS = texts(40, seed=4)
NAME = "live"

Found = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """One answered request."""

    at_seconds: float
    seconds: float
    status: int
    revision: str
    text: int
    found: Found


@dataclass(slots=True)
class SwitchLog:
    """What callers and the one who publishes wrote down."""

    answers: list[AnsweredRequest] = field(default_factory=list)
    busy: list[tuple[float, float]] = field(default_factory=list)
    known: dict[str, list[Found]] = field(default_factory=dict)

    def during_a_swap(self, answer: AnsweredRequest) -> bool:
        """Whether a request overlapped the time from a publish to the switch."""
        return any(begun <= answer.at_seconds and answer.at_seconds - answer.seconds <= end for begun, end in self.busy)


def measure(home: Path) -> None:
    """Print one row for each shape."""
    print(f"\n## {SWAPS} new revisions under load ({CALLERS} callers without a pause)\n")
    print(
        "| model | requests | failed | of another revision | differ by rounding | s from publish to switch (median) |"
        " p50 ms calm | p99 | p50 ms during a swap | p99 |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for shape in SHAPES:
        store = home / "swaps"
        shutil.rmtree(store, ignore_errors=True)
        _publish(shape, 0, store, home)
        settings = {"MODELS": NAME, "MODEL_STORE": store, "MODEL_POLL_SECONDS": 0.5}
        with serve(home / "bench.log", **settings) as url:
            print(_row(shape, _run(shape, url, store, home)), flush=True)


def _run(shape: str, url: str, store: Path, home: Path) -> SwitchLog:
    log, stop = SwitchLog(), threading.Event()
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_call, url, log, stop, number) for number in range(CALLERS)]
        try:
            with httpx.Client(base_url=url, timeout=120.0) as client:
                _learn(client, log)
                for number in range(1, SWAPS + 1):
                    time.sleep(CALM_SECONDS)
                    _swap(shape, number, store, home, client, log)
                time.sleep(CALM_SECONDS)
        finally:
            stop.set()
        for call in calls:
            call.result()
    return log


def _swap(shape: str, number: int, store: Path, home: Path, client: httpx.Client, log: SwitchLog) -> None:
    folder = _make(shape, number, home)
    before = _serving(client)
    begun = time.monotonic()
    publish(folder, NAME, store)
    while _serving(client) == before:
        time.sleep(0.05)
    log.busy.append((begun, time.monotonic()))
    _learn(client, log)
    shutil.rmtree(folder)


def _call(url: str, log: SwitchLog, stop: threading.Event, number: int) -> None:
    with httpx.Client(base_url=url, timeout=120.0) as client:
        while not stop.is_set():
            number = (number + 7) % len(TEXTS)
            begun = time.monotonic()
            response = client.post("/extract", json={"text": TEXTS[number]})
            now, body = time.monotonic(), response.json()
            fine = response.status_code == 200
            revision, found = (body["model"]["revision"], _found(body)) if fine else ("", ())
            log.answers.append(AnsweredRequest(now, now - begun, response.status_code, revision, number, found))


def _row(shape: str, log: SwitchLog) -> str:
    failed = sum(answer.status != 200 for answer in log.answers)
    wrong = other = 0
    for answer in log.answers:
        if answer.status == 200 and answer.found != log.known[answer.revision][answer.text]:
            others = (known[answer.text] for revision, known in log.known.items() if revision != answer.revision)
            wrong += 1
            other += answer.found in others
    calm = _percentiles([answer for answer in log.answers if not log.during_a_swap(answer)])
    busy = _percentiles([answer for answer in log.answers if log.during_a_swap(answer)])
    swap = statistics.median(end - begun for begun, end in log.busy)
    return f"| {shape} | {len(log.answers)} | {failed} | {other} | {wrong - other} | {swap:.1f} | {calm} | {busy} |"


def _percentiles(answers: list[AnsweredRequest]) -> str:
    cuts = statistics.quantiles((answer.seconds * 1000 for answer in answers), n=100)
    return f"{cuts[49]:.0f} | {cuts[98]:.0f}"


def _learn(client: httpx.Client, log: SwitchLog) -> None:
    """Ask the revision that serves about every text, by its digest."""
    revision = _serving(client)
    bodies = [client.post("/extract", json={"text": text, "model": f"{NAME}@{revision}"}).json() for text in TEXTS]
    log.known[revision] = [_found(body) for body in bodies]


def _found(body: dict[str, Any]) -> Found:
    return tuple((each["label"], each["start"], each["end"]) for each in body["documents"][0]["entities"])


def _serving(client: httpx.Client) -> str:
    revision: str = client.get("/models").json()["models"][0]["revision"]
    return revision


def _publish(shape: str, number: int, store: Path, home: Path) -> None:
    folder = _make(shape, number, home)
    publish(folder, NAME, store)
    shutil.rmtree(folder)


def _make(shape: str, number: int, home: Path) -> Path:
    folder = home / f"revision-{number}"
    run_module("loadtest.bench.random_models", shape, str(folder), "--seed", str(number))
    return folder
