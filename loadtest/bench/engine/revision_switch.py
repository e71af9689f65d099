"""Revision switches under load: failed requests, answers of a wrong revision, and the clients' latency.

Ten new revisions of one model are published in turn. The reference answers of a revision are asked for by its digest as
soon as it serves.
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

from loadtest.bench.fixtures import publish, run_module, service, texts

SHAPES = ("six-layer", "bert-base")
SWITCHES = 10
CLIENTS = 3
CALM_SECONDS = 5.0
"""Under load between two switches."""
TEXTS = texts(40, seed=4)
NAME = "live"

Found = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """One answered request of a client."""

    at_seconds: float
    seconds: float
    status: int
    revision: str
    text: int
    found: Found


@dataclass(slots=True)
class SwitchLog:
    """Answers of the clients, times from publish to switch, and the reference answers of each revision."""

    answers: list[AnsweredRequest] = field(default_factory=list)
    switches: list[tuple[float, float]] = field(default_factory=list)
    references: dict[str, list[Found]] = field(default_factory=dict)

    def during_a_switch(self, answer: AnsweredRequest) -> bool:
        """True when a request overlapped the time from a publish to its switch."""
        started = answer.at_seconds - answer.seconds
        return any(began <= answer.at_seconds and started <= end for began, end in self.switches)


def measure(home: Path) -> None:
    """Print one row for each shape."""
    print(f"\n## {SWITCHES} new revisions under load ({CLIENTS} clients without a pause)\n")
    print(
        "| model | requests | failed | of another revision | differ by rounding | s from publish to switch (median) |"
        " p50 ms calm | p99 | p50 ms during a switch | p99 |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for shape in SHAPES:
        store = home / "switches"
        shutil.rmtree(store, ignore_errors=True)
        _publish(shape, 0, store, home)
        with service(home, MODELS=NAME, MODEL_STORE=store, MODEL_POLL_SECONDS=0.5) as running:
            print(_row(shape, _run(shape, running.url, store, home)), flush=True)


def _run(shape: str, url: str, store: Path, home: Path) -> SwitchLog:
    log, stop = SwitchLog(), threading.Event()
    with ThreadPoolExecutor(CLIENTS) as pool:
        calls = [pool.submit(_call, url, log, stop, number) for number in range(CLIENTS)]
        try:
            with httpx.Client(base_url=url, timeout=120.0) as client:
                _ask_references(client, log)
                for number in range(1, SWITCHES + 1):
                    time.sleep(CALM_SECONDS)
                    _switch(shape, number, store, home, client, log)
                time.sleep(CALM_SECONDS)
        finally:
            stop.set()
        for call in calls:
            call.result()
    return log


def _switch(shape: str, number: int, store: Path, home: Path, client: httpx.Client, log: SwitchLog) -> None:
    folder = _make(shape, number, home)
    before = _serving_revision(client)
    began = time.monotonic()
    publish(folder, NAME, store)
    while _serving_revision(client) == before:
        time.sleep(0.05)
    log.switches.append((began, time.monotonic()))
    _ask_references(client, log)
    shutil.rmtree(folder)


def _call(url: str, log: SwitchLog, stop: threading.Event, number: int) -> None:
    with httpx.Client(base_url=url, timeout=120.0) as client:
        while not stop.is_set():
            number = (number + 7) % len(TEXTS)
            began = time.monotonic()
            response = client.post("/extract", json={"text": TEXTS[number]})
            now, body = time.monotonic(), response.json()
            fine = response.status_code == 200
            revision, found = (body["model"]["revision"], _found(body)) if fine else ("", ())
            log.answers.append(AnsweredRequest(now, now - began, response.status_code, revision, number, found))


def _row(shape: str, log: SwitchLog) -> str:
    failed = sum(answer.status != 200 for answer in log.answers)
    wrong = other = 0
    for answer in log.answers:
        if answer.status == 200 and answer.found != log.references[answer.revision][answer.text]:
            others = (found[answer.text] for revision, found in log.references.items() if revision != answer.revision)
            wrong += 1
            other += answer.found in others
    calm = _percentiles([answer for answer in log.answers if not log.during_a_switch(answer)])
    busy = _percentiles([answer for answer in log.answers if log.during_a_switch(answer)])
    seconds = statistics.median(end - began for began, end in log.switches)
    return f"| {shape} | {len(log.answers)} | {failed} | {other} | {wrong - other} | {seconds:.1f} | {calm} | {busy} |"


def _percentiles(answers: list[AnsweredRequest]) -> str:
    cuts = statistics.quantiles((answer.seconds * 1000 for answer in answers), n=100)
    return f"{cuts[49]:.0f} | {cuts[98]:.0f}"


def _ask_references(client: httpx.Client, log: SwitchLog) -> None:
    """Keep what the serving revision finds in every text."""
    revision = _serving_revision(client)
    bodies = [client.post("/extract", json={"text": text, "model": f"{NAME}@{revision}"}).json() for text in TEXTS]
    log.references[revision] = [_found(body) for body in bodies]


def _found(body: dict[str, Any]) -> Found:
    return tuple((each["label"], each["start"], each["end"]) for each in body["documents"][0]["entities"])


def _serving_revision(client: httpx.Client) -> str:
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
