"""New revisions under load: no request fails, each answer is that of the revision it names, bad ones never serve."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.log_lines import log_lines
from tests.support.revisions import TEXTS, Made, ask, golden, make_revision, publish_revision, read_answer
from tests.support.service import Service, paused, serving, wait_until

SWAPS = 10
CALLERS = 4
POLL_SECONDS = 0.2
LONG = " ".join(TEXTS * 30)
PACE = 30_000
"""Tokens a second, on however fast a machine: the queue's gauges are set twice a second only."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Made]:
    """Eleven revisions that differ."""
    home = tmp_path_factory.mktemp("revisions")
    return [make_revision(home / str(number), number) for number in range(SWAPS + 1)]


def model(service: Service, name: str = "live") -> dict[str, Any]:
    """The model in /models that a name leads to."""
    models = service.get("/models").json()["models"]
    return next(each for each in models if each["name"] == name and each["state"] == "serving")


def errors(service: Service) -> list[dict[str, Any]]:
    """The log's lines of level error."""
    return [line for line in log_lines(service.log) if line["level"] == "error"]


def rejected(service: Service, revision: str) -> list[str]:
    """The outcomes with which a revision was rejected, as the log has them."""
    return [line["outcome"] for line in errors(service) if line.get("revision") == revision and "outcome" in line]


class Callers:
    """Callers that ask without a pause, and check every answer against the revision that it names."""

    def __init__(self, service: Service, known: dict[str, Made]) -> None:
        self.answered: Counter[str] = Counter()
        self._known = known
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(CALLERS)
        self._calls = [self._pool.submit(self._call, service, number) for number in range(CALLERS)]

    def check(self) -> None:
        """Stop asking; raises what any caller met."""
        self._stop.set()
        self._pool.shutdown()
        for call in self._calls:
            call.result()

    def _call(self, service: Service, number: int) -> None:
        with service.client() as client:
            while not self._stop.is_set():
                for text in TEXTS[number:] + TEXTS[:number]:
                    revision, found = ask(client, text)
                    assert found == self._known[revision].found[text], f"not what {revision} finds"
                    self.answered[revision] += 1


@contextmanager
def calling(service: Service, known: dict[str, Made]) -> Iterator[Callers]:
    callers = Callers(service, known)
    try:
        yield callers
    finally:
        callers.check()


@contextmanager
def service_of(home: Path, **settings: object) -> Iterator[Service]:
    options = {"MODELS": "live", "DTYPE": "float32", "MODEL_POLL_SECONDS": POLL_SECONDS, **settings}
    with serving(home, **options) as service:
        yield service


def test_ten_swaps_under_load_fail_no_request_and_mix_no_answers(tmp_path: Path, made: list[Made]) -> None:
    store, known = tmp_path / "store", {}
    known[publish_revision(made[0], store)] = made[0]
    with service_of(tmp_path) as service, calling(service, known) as callers:
        for number, each in enumerate(made[1:], start=1):
            examples = golden(each, tmp_path / f"{number}.jsonl")
            pinned_to = model(service)["revision"]
            known[revision_of(each, examples, tmp_path)] = each
            revision = publish_revision(each, store, examples)
            wait_until(lambda wanted=revision: model(service)["revision"] == wanted)  # type: ignore[misc]
            with service.client() as client:
                wait_until(lambda wanted=revision: ask(client, TEXTS[0])[0] == wanted)  # type: ignore[misc]
                assert ask(client, TEXTS[1], f"live@{pinned_to}") == (pinned_to, known[pinned_to].found[TEXTS[1]])
            wait_until(lambda wanted=revision: callers.answered[wanted] >= 100)  # type: ignore[misc]
        switched = 'gleaner_revision_switches_total{model="live",outcome="switched",tag="stable"}'
        wait_until(lambda: service.metric(switched) == SWAPS)  # A switch is counted once it is written down.
        assert service.metric("gleaner_engine_starts_total") == 1
        wait_until(lambda: service.metric("gleaner_models{") == 2)  # The one that serves, and the one before.
    assert len(callers.answered) == SWAPS + 1
    assert callers.answered.total() >= 1_000


def revision_of(made: Made, examples: Path, home: Path) -> str:
    """The digest that a publish will give, by one into another store: callers may see it before we do."""
    return publish_revision(made, home / "elsewhere", examples)


def test_a_revision_that_fails_its_golden_examples_never_serves(tmp_path: Path, made: list[Made]) -> None:
    store, known = tmp_path / "store", {}
    good = publish_revision(made[0], store)
    known[good] = made[0]
    with service_of(tmp_path) as service, calling(service, known) as callers:
        bad = publish_revision(made[1], store, golden(made[1], tmp_path / "wrong.jsonl", wrong=True))
        wait_until(lambda: bad in model(service)["problem"])
        assert model(service)["revision"] == good
        assert "1 of 3" in model(service)["problem"]
        assert service.metric('gleaner_revision_switches_total{model="live",outcome="golden_failed",tag="stable"}') == 1
        wait_until(lambda: service.metric('gleaner_revision_rejected{model="live",tag="stable"}') == 1)
        wait_until(lambda: rejected(service, bad) == ["golden_failed"])
        refused = service.extract(text=TEXTS[0], model=f"live@{bad}")
        assert refused.json()["code"] == "unknown_model"
        examples = golden(made[2], tmp_path / "right.jsonl")
        known[revision_of(made[2], examples, tmp_path)] = made[2]
        better = publish_revision(made[2], store, examples)
        wait_until(lambda: model(service)["revision"] == better)
        assert model(service)["problem"] == ""
        wait_until(lambda: callers.answered[better] >= 20)
        publish_revision(made[0], store)
        wait_until(lambda: model(service)["revision"] == good)
    assert set(callers.answered) == {good, better}


def test_a_start_whose_tag_points_to_a_bad_revision_serves_the_one_before(tmp_path: Path, made: list[Made]) -> None:
    store = tmp_path / "store"
    good = publish_revision(made[0], store)
    bad = publish_revision(made[1], store, golden(made[1], tmp_path / "wrong.jsonl", wrong=True))
    with service_of(tmp_path) as service, service.client() as client:
        assert ask(client, TEXTS[0]) == (good, made[0].found[TEXTS[0]])
        reasons = [line["reason"] for line in errors(service) if line.get("revision") == bad]
        assert reasons
        assert "1 of 3" in reasons[0]


def test_after_a_death_the_engine_serves_its_revision_then_the_tag(tmp_path: Path, made: list[Made]) -> None:
    """Requests that were tokenized for the old revision wait for the next engine; it must know what they mean."""
    store = tmp_path / "store"
    new, old = (publish_revision(each, store) for each in (made[1], made[0]))
    with (
        service_of(tmp_path, MODEL_POLL_SECONDS=1, PACE_TOKENS_PER_SECOND=PACE) as service,
        ThreadPoolExecutor(8) as pool,
        service.client() as client,
    ):
        right = ask(client, LONG, f"live@{old}")
        assert right[0] == old
        asked = [pool.submit(answer) for answer in [service.let_in(text=LONG, model="live") for _ in range(8)]]
        wait_until(lambda: service.metric("gleaner_queue_documents") >= 4)
        with paused(service.child("engine")):  # It does not see the new one before its death.
            publish_revision(made[1], store)
            service.kill_engine()
        assert all(read_answer(each.result()) == right for each in asked)
        wait_until(lambda: model(service)["revision"] == new)
