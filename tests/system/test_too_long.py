"""A document for which an idle engine has no time: one refusal, in every protocol, and nothing that scales a fleet."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.extraction import TEXT, assert_problem, random_texts
from tests.support.service import Service, serving, wait_until

SPEED = 1_000
"""Tokens a second of the engine's device."""
DEADLINE_MS = 3_000
LONG = random_texts(1, seed=5, shortest=20_000, longest=20_000)[0]
"""Some 20 s of the device; a tenth of it would be in time."""
ADAPTERS = "huggingface,sagemaker,comprehend,presidio,oip,mcp,gliner,gliner2"


@pytest.fixture(scope="module")
def slow(home: Path) -> Iterator[Service]:
    limits = {"PACE_TOKENS_PER_SECOND": SPEED, "DEADLINE_MS": DEADLINE_MS, "WORKERS": 1}
    with serving(home, MODELS="tiny", DTYPE="float32", ADAPTERS=ADAPTERS, **limits) as service:
        wait_until(lambda: service.extract(text=TEXT * 10).status_code == 200)
        time.sleep(1.0)
        yield service


class Levels:
    """The highest values of what scales a fleet while a block runs."""

    def __init__(self, service: Service) -> None:
        self.work_ratio = self.backlog_seconds = 0.0
        self._service, self._over = service, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Levels:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.25):
            self.work_ratio = max(self.work_ratio, self._service.metric("gleaner_work_ratio "))
            self.backlog_seconds = max(self.backlog_seconds, self._service.metric("gleaner_backlog_seconds "))


@pytest.mark.parametrize("count", [1, 10, 100])
def test_documents_that_cannot_be_kept_are_no_load(slow: Service, count: int) -> None:
    before = slow.metric("gleaner_refusals_total")
    with Levels(slow) as levels, slow.client(timeout=240.0) as client, ThreadPoolExecutor(8) as callers:
        answers = [*callers.map(lambda _: client.post("/extract", json={"text": LONG}), range(count))]
        for answer in answers:
            assert_problem(answer, 422, "too_long_for_deadline", "deadline_ms")
            assert "retry-after" not in answer.headers
        time.sleep(2.0)
    assert levels.work_ratio < 1.5, "one of them alone would be 2"
    assert levels.backlog_seconds < 10.0, "more than a batch that measures; one of them alone would be 20"
    assert slow.metric("gleaner_refusals_total") == before
