"""Processes die and services stop; accepted requests do not notice."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.api.arbiter import most_deaths
from service.logs import LogEvent
from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT, assert_problem, random_texts
from tests.support.parsers import give_weights, hold_weights, link_weights, parsers_of, zygotes_of
from tests.support.processes import children_of, lives
from tests.support.service import Service, environment, paused, serving, start, wait_until

TEXTS = random_texts(20, seed=5, shortest=2_000, longest=2_500)
PACE, SLOW_PACE = 12_500, 6_000
"""Tokens a second, on however fast a machine: the queue's gauges are set twice a second only, and what is to be
interrupted must last for longer than that, and than this process may have to wait for a core."""


def ask_all(service: Service, pool: ThreadPoolExecutor) -> list[Future[httpx.Response]]:
    """Twenty requests at once, returned when all are let in and the engine works on them."""
    asked = [pool.submit(answer) for answer in [service.let_in(text=text) for text in TEXTS]]
    wait_until(lambda: service.metric("gleaner_queue_documents") >= 5)
    return asked


def found(answer: httpx.Response) -> list[tuple[str, int, int]]:
    assert answer.status_code == 200, answer.text
    return [(e["label"], e["start"], e["end"]) for e in answer.json()["documents"][0]["entities"]]


def test_requests_are_refused_before_the_models_are_loaded(home: Path) -> None:
    with start(home, MODELS="tiny") as service:
        wait_until(lambda: service.find("engine") is not None)
        with paused(service.child("engine")):
            wait_until(lambda: service.phase() != "unreachable")
            ready = service.get("/readyz")
            assert ready.status_code == 503
            assert set(ready.json()) == {"phase", "percent", "detail"}
            assert service.get("/livez").status_code == 200
            assert_problem(service.extract(text=TEXT), 503, "not_ready")


@contextmanager
def slow_parsers(home: Path, weights: Path) -> Iterator[tuple[Service, Path]]:
    """A service of one worker whose zygote waits for OCR's weights: they are a pipe until they are written."""
    link_weights(weights)
    pipe = hold_weights(weights)
    with start(home, MODELS="tiny", WORKERS=1, OCR_FOLDER=weights) as service:
        wait_until(lambda: service.phase() != "unreachable")
        yield service, pipe


def test_a_worker_says_that_its_parsers_are_late_and_waits_for_them(home: Path, tmp_path: Path) -> None:
    with slow_parsers(home, tmp_path) as (service, pipe):
        ready = service.get("/readyz")
        assert (ready.status_code, ready.json()) == (
            503,
            {"phase": "loading", "percent": 0, "detail": "the parsers start"},
        )
        assert service.get("/livez").status_code == 200
        assert_problem(service.extract(text=TEXT), 503, "not_ready")
        give_weights(pipe)
        wait_until(service.is_ready)
        assert service.extract(text=TEXT).status_code == 200
        file = httpx.post(f"{service.url}/extract", files={"file": simple_pdf("Invoice INV-20931")}, timeout=180.0)
        assert file.status_code == 200, file.text


def test_parsers_that_keep_dying_at_the_start_end_the_service(home: Path, tmp_path: Path) -> None:
    with slow_parsers(home, tmp_path) as (service, _pipe):
        while service.process.poll() is None:
            for worker in children_of(service.find("api") or 0):
                for zygote in zygotes_of(worker):
                    os.kill(zygote, signal.SIGKILL)
            time.sleep(0.05)
        assert service.process.returncode == 1
        assert "the worker cannot start: The parsers' zygote cannot be started." in service.log.read_text()


def test_killing_the_engine_fails_no_request(home: Path) -> None:
    settings = {"MODELS": "tiny", "DTYPE": "float32", "PACE_TOKENS_PER_SECOND": PACE}
    with serving(home, **settings) as service, ThreadPoolExecutor(20) as pool:
        right = [found(service.extract(text=text)) for text in TEXTS]
        asked = ask_all(service, pool)
        first_engine = service.child("engine")
        with paused(service.process.pid):  # The supervisor starts no other engine meanwhile.
            service.kill_engine()
            wait_until(lambda: service.phase() != "ready")
            assert_problem(service.extract(text=TEXT), 503, "engine_restarting")
            assert service.metric('gleaner_refusals_total{code="engine_restarting"}') >= 1
        assert [found(each.result()) for each in asked] == right
        assert service.child("engine") != first_engine
        assert service.metric("gleaner_engine_starts_total") == 2


def test_a_stopped_engine_is_replaced_and_fails_no_request(home: Path) -> None:
    settings = {"MODELS": "tiny", "DTYPE": "float32", "PACE_TOKENS_PER_SECOND": PACE, "ENGINE_SILENCE_SECONDS": 15}
    with serving(home, **settings) as service, ThreadPoolExecutor(20) as pool:
        right = [found(service.extract(text=text)) for text in TEXTS]
        asked = ask_all(service, pool)
        stopped = service.child("engine")
        os.kill(stopped, signal.SIGSTOP)
        wait_until(lambda: service.get("/readyz").status_code == 503)
        assert_problem(service.extract(text=TEXT), 503, "engine_restarting")
        assert lives(stopped)
        assert [found(each.result()) for each in asked] == right
        assert not lives(stopped)
        assert service.metric("gleaner_engine_starts_total") == 2
        events = service.events()
        assert [events.count(event) for event in (LogEvent.ENGINE_STUCK, LogEvent.ENGINE_DIED)] == [1, 1]


def test_a_service_that_is_paused_as_a_whole_loses_nothing_and_goes_on(home: Path) -> None:
    """Longer than engine, workers and supervisor may be silent; the supervisor goes on first, the workers last."""
    settings = {"MODELS": "tiny", "PACE_TOKENS_PER_SECOND": PACE, "ENGINE_SILENCE_SECONDS": 5}
    with serving(home, **settings) as service, ThreadPoolExecutor(20) as pool:
        asked = ask_all(service, pool)
        parts = [service.process.pid, service.child("engine"), service.child("api"), _worker(service)]
        with ExitStack() as pauses:
            for part in reversed(parts):
                pauses.enter_context(paused(part))
            time.sleep(12)
        assert all(found(each.result()) for each in asked)
        assert [service.process.pid, service.child("engine"), service.child("api"), _worker(service)] == parts
        assert not {LogEvent.ENGINE_STUCK, LogEvent.ENGINE_DIED} & set(service.events())


def test_a_drain_replaces_an_engine_that_is_stopped_and_finishes(home: Path) -> None:
    settings = {"MODELS": "tiny", "DRAIN_SECONDS": 240, "PACE_TOKENS_PER_SECOND": PACE, "ENGINE_SILENCE_SECONDS": 5}
    with serving(home, **settings) as service, ThreadPoolExecutor(20) as pool:
        asked = ask_all(service, pool)
        os.kill(service.child("engine"), signal.SIGSTOP)
        service.process.send_signal(signal.SIGTERM)
        assert all(found(each.result()) for each in asked)
        assert service.process.wait(60) == 0


def test_stopping_finishes_the_requests_let_in_and_exits_0(home: Path) -> None:
    with serving(home, MODELS="tiny", PACE_TOKENS_PER_SECOND=PACE) as service, ThreadPoolExecutor(20) as pool:
        asked = ask_all(service, pool)
        last = service.let_in(text=TEXT)  # As long as its body does not come, the drain is not over.
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: service.phase() == "draining")
        assert_problem(service.extract(text=TEXT), 503, "draining")
        assert service.get("/readyz").status_code == 503
        assert found(last())
        assert all(found(each.result()) for each in asked)
        assert service.process.wait(60) == 0


def test_stopping_while_the_engine_is_replaced_fails_no_request(home: Path) -> None:
    settings = {"MODELS": "tiny", "DRAIN_SECONDS": 240, "PACE_TOKENS_PER_SECOND": PACE}
    with serving(home, **settings) as service, ThreadPoolExecutor(20) as pool:
        asked = ask_all(service, pool)
        service.kill_engine()
        wait_until(lambda: service.phase() != "ready")
        service.process.send_signal(signal.SIGTERM)
        assert all(found(each.result()) for each in asked)
        assert service.process.wait(60) == 0


def test_a_service_in_its_drain_grace_is_not_ready_and_answers(home: Path) -> None:
    with serving(home, MODELS="tiny", DRAIN_GRACE_SECONDS=15) as service:
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: service.phase() == "draining")
        assert found(service.extract(text=TEXT))
        assert service.process.wait(60) == 0


def test_a_document_that_two_engines_died_on_is_refused_alone(home: Path) -> None:
    with serving(home, MODELS="tiny", PACE_TOKENS_PER_SECOND=SLOW_PACE) as service, ThreadPoolExecutor(2) as pool:
        poison = pool.submit(service.extract, text=TEXT * 12_000, timeout=180.0)
        for deaths in (1, 2):
            wait_until(lambda: service.is_ready() and service.metric("gleaner_queue_tokens") > 1_000)
            neighbour = pool.submit(service.extract, text=TEXT, timeout=180.0)
            assert found(neighbour.result())
            service.kill_engine()
            wait_until(lambda n=deaths: service.metric("gleaner_engine_starts_total") == n + 1)  # type: ignore[misc]
        assert_problem(poison.result(), 500, "poison_document")
        wait_until(service.is_ready)
        assert found(service.extract(text=TEXT))


def test_the_third_death_within_a_minute_ends_the_service(home: Path) -> None:
    with serving(home, MODELS="tiny") as service:
        for death in range(1, 4):
            service.kill_engine()
            if death < 3:
                wait_until(lambda n=death: service.metric("gleaner_engine_starts_total") == n + 1)  # type: ignore[misc]
        assert service.process.wait(120) == 1
        events = service.events()
        assert events.count(LogEvent.ENGINE_DIED) == 3
        assert LogEvent.ENGINE_RESTART_LIMIT in events


def test_front_workers_that_die_again_and_again_end_the_service(home: Path) -> None:
    with serving(home, MODELS="tiny", WORKERS=1) as service:
        deaths, front = set[int](), service.child("api")
        while service.process.poll() is None:
            assert len(deaths) <= most_deaths(1), "workers are started again for ever"
            with suppress(FileNotFoundError, ProcessLookupError):  # The front has ended.
                for worker in children_of(front):
                    os.kill(worker, signal.SIGKILL)
                    deaths.add(worker)
            time.sleep(0.05)
        assert service.process.wait(60) == 1
        assert service.events().count(LogEvent.WORKERS_RESTART_LIMIT) == 1
        assert len(deaths) == most_deaths(1)


def test_killing_the_supervisor_leaves_no_process_behind(home: Path) -> None:
    with serving(home, MODELS="tiny") as service:
        worker = _worker(service)
        parts = [service.child("engine"), service.child("api"), worker, *zygotes_of(worker), *_parsers(service)]
        service.process.kill()
        service.process.wait()
        wait_until(lambda: not any(lives(part) for part in parts))


def test_a_killed_front_worker_is_replaced(service: Service) -> None:
    os.kill(_worker(service), signal.SIGKILL)
    wait_until(lambda: service.phase() == "ready")
    assert found(service.extract(text=TEXT))


def test_a_killed_parser_costs_its_file_only_a_second_try(service: Service) -> None:
    killed = set(_parsers(service))
    for parser in killed:
        os.kill(parser, signal.SIGKILL)
    wait_until(
        lambda: not killed & set(parsers_of(_worker(service)))
    )  # Two deaths that nobody has noticed would be two tries.
    with service.client() as client:
        answer = client.post("/extract", files={"file": ("a.pdf", simple_pdf("Anna Smith paid"))})
        assert answer.status_code == 200, answer.text
        assert answer.json()["documents"][0]["entities"]


def test_a_disconnect_removes_the_document_from_the_queue(service: Service) -> None:
    """Most of what waits when the caller leaves is never run."""

    def hung_up() -> float:
        return service.metric('gleaner_requests_total{route="/extract",status="499"}')

    before = hung_up()
    with closing(http.client.HTTPConnection(service.url.removeprefix("http://"))) as caller:
        body = json.dumps({"text": TEXT * 50_000})
        caller.request("POST", "/extract", body, {"Content-Type": "application/json"})
        wait_until(lambda: service.metric("gleaner_queue_tokens") > 100_000)
        waited, ran = service.metric("gleaner_queue_tokens"), service.metric("gleaner_tokens_total")
    wait_until(lambda: service.metric("gleaner_queue_tokens") == 0)
    assert service.metric("gleaner_tokens_total") - ran < waited / 2
    wait_until(lambda: hung_up() == before + 1)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"PORT": "eighty"}, "GLEANER_PORT"),
        ({"MODELS": ","}, "GLEANER_MODELS"),
        ({"MODELS": "nobody"}, "nobody"),
        ({"DEVICE": "tpu"}, "GLEANER_DEVICE"),
        ({"API_KEYS_FILE": "/nowhere"}, "/nowhere"),
    ],
)
def test_a_bad_setting_refuses_to_start_and_is_named(home: Path, settings: dict[str, Any], named: str) -> None:
    command = [sys.executable, "-m", "service.cli", "serve"]
    ended = subprocess.run(command, env=environment(home, **settings), capture_output=True, timeout=120, check=False)
    assert ended.returncode == 1
    assert named in ended.stderr.decode()


def _worker(service: Service) -> int:
    return children_of(service.child("api"))[0]


def _parsers(service: Service) -> list[int]:
    found = parsers_of(_worker(service))
    assert found
    return found
