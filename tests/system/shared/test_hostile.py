"""Waves of requests of every size for some seconds: none fails, and no process is restarted."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.support.service import Service

SECONDS = 8.0
LONGEST_WORDS = 2_000


def text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(("Jane", "Doe", "lives", "in", "Springfield", "and", "owes", "1,200.00"), k=words))


def wave(draw: random.Random) -> list[list[str]]:
    """The documents of each request: a burst, many one-word texts, a long text beside small ones, or batches."""
    kind = draw.randrange(4)
    if kind == 0:
        return [[text(draw, draw.randint(1, 400))] for _ in range(draw.randint(20, 60))]
    if kind == 1:
        return [["a"] * draw.randint(1, 50) for _ in range(draw.randint(1, 20))]
    if kind == 2:
        longest = [text(draw, draw.randint(LONGEST_WORDS // 4, LONGEST_WORDS))]
        return [longest, *([text(draw, draw.randint(1, 40))] for _ in range(10))]
    return [[text(draw, int(10 ** draw.uniform(0, 3.3))) for _ in range(draw.randint(1, 30))] for _ in range(3)]


def test_nothing_fails_and_nothing_is_restarted_under_hostile_load(service: Service) -> None:
    draw, answered = random.Random(0), 0
    starts = service.metric("gleaner_engine_starts_total")
    end = time.monotonic() + SECONDS
    with service.client(timeout=300.0) as client, ThreadPoolExecutor(64) as callers:

        def ask(texts: list[str], model: str) -> httpx.Response:
            return client.post("/extract", json={"model": model, "documents": [{"text": each} for each in texts]})

        while time.monotonic() < end:
            for answer in [callers.submit(ask, each, draw.choice(("tiny", "other"))) for each in wave(draw)]:
                documents = answer.result().raise_for_status().json()["documents"]
                assert [each["error"] for each in documents if each["error"]] == []
                answered += len(documents)
    assert answered > 20
    assert service.metric("gleaner_engine_starts_total") == starts
    assert service.is_ready()
