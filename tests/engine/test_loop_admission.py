"""Whom the loop refuses, before its models are there and after, and what it counts of that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from service.core.scheduling.throughput import TimedBatch
from service.core.types import Phase
from service.core.worker_load import WorkerLoad
from service.engine.models.loaded_model import ProfiledModel
from service.engine.requests.request_table import RequestTable
from service.wire import Buffer, Hello, Message, Refused, Status, Submitted, TurnedAway, WireError
from tests.support.budgets import unmeasured
from tests.support.engine_scenes import (
    BUDGET,
    MODEL,
    OTHER_MODEL,
    A,
    B,
    Turn,
    World,
    cancelled,
    document,
    hello,
    play,
    played,
)
from tests.support.fuzz.wire import fuzz_wire
from tests.support.metric_values import value


@played()
def test_what_workers_refuse_themselves_counts_as_demand_and_as_refused(world: World) -> Iterator[Turn]:
    yield [hello()]
    yield [document("k", 3)]
    world.device.step()
    yield []
    world.now += 1
    yield [(A, TurnedAway("deadline_exceeded", 7, 7_000), None)]
    yield []
    refused = world.metrics.refusals.labels("deadline_exceeded")
    assert value(refused) == 7
    world.now += 1
    yield []
    yield []
    assert value(world.metrics.queue.backlog_seconds) > 0
    assert value(world.metrics.queue.work_ratio) > 0


@played()
def test_what_workers_have_not_prepared_yet_is_backlog_too(world: World) -> Iterator[Turn]:
    """A burst is seen at once, though workers tokenize it no faster than the device needs it."""
    yield [hello()]
    yield [document("k", 3)]
    world.now += 1
    world.device.step()
    yield []
    speed = world.status().tokens_per_second
    assert speed is not None
    yield [(A, Hello(1, worker_load=WorkerLoad(held_tokens=60 * speed)), None)]
    world.now += 1
    yield []
    yield []
    assert value(world.metrics.queue.backlog_seconds) == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("submission", "code"),
    [
        (document("k", 3, model="sha256:nobody"), "engine_restarting"),
        (document("k", BUDGET + 1), "insufficient_memory"),
        (document("k", 3, deadline=999.0), "deadline_exceeded"),
    ],
)
def test_a_document_that_cannot_be_served_is_refused_with_its_code(
    submission: tuple[bytes, Message, Buffer | None], code: str
) -> None:
    world = play(lambda _: iter([[], [submission]]))
    assert world.refusal("k").code == code
    assert world.encoder.batches == []


@played(loaded=False)
def test_the_timed_batch_of_the_start_up_sets_the_throughput(world: World) -> Iterator[Turn]:
    world.load(timed=TimedBatch(BUDGET, 0.5))
    yield [hello()]
    assert world.status().tokens_per_second == pytest.approx(20.0)
    yield [document("k", *[10] * 5, deadline=world.now + 2.4), document("l", *[10] * 5, deadline=world.now + 2.6)]
    assert world.refusal("k").code == "deadline_exceeded"
    assert world.answers("l") == []


def test_a_document_over_the_queue_limit_is_refused_with_retry_after() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("warm", 1)]
        world.device.step()
        yield [document(f"k{n}", *[10] * 5) for n in range(3)]
        assert world.refusal("k2").code == "queue_full"
        assert world.refusal("k2").retry_after_seconds is not None

    world = play(scene)
    assert [sorted(world.scored(f"k{n}")) for n in range(2)] == [[0, 1, 2, 3, 4]] * 2


def test_documents_are_refused_as_not_ready_until_the_models_are_open() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(), document("early", 3)]
        assert world.refusal("early").code == "not_ready"
        assert world.status().models == ()
        world.load()
        yield []
        assert (world.status().phase, world.status().percent, world.status().admitting) == (Phase.READY, 100, True)
        yield [document("late", 3)]

    assert play(scene, loaded=False).scored("late") == [0]


@played()
def test_a_deadline_that_passes_in_the_queue_is_refused(world: World) -> Iterator[Turn]:
    yield []
    yield [document("first", 4)]
    yield [document("late", 3, deadline=world.now + 1)]
    world.now += 2
    yield []
    assert world.refusal("late").code == "deadline_exceeded"


def bad_messages(world: World) -> float:
    return float(world.metrics.bad_messages._value.get())


def test_bytes_of_a_document_that_are_no_message_refuse_it() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [(A, WireError("out of bounds", "mine"), None), (A, WireError("noise"), None), document("good", 3)]

    world = play(scene)
    assert world.refusal("mine").code == "internal_error"
    assert (world.scored("good"), bad_messages(world)) == ([0], 2)


def test_bytes_about_a_document_that_is_admitted_do_not_refuse_it() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [document("good", 3), (B, WireError("out of bounds", "good"), None)]

    assert play(scene).scored("good") == [0]


def test_a_message_that_is_for_workers_is_counted_and_dropped() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [(A, Refused("k", "queue_full", ""), None), (A, Status("1", "ready"), None)]  # type: ignore[arg-type]

    world = play(scene)
    assert (bad_messages(world), world.loop.exit_reason) == (2, None)


def test_an_exception_over_one_message_refuses_its_document_only(monkeypatch: pytest.MonkeyPatch) -> None:
    admit = RequestTable.admit

    def fails(self: RequestTable, worker: bytes, submission: Submitted, *others: object) -> object:
        if submission.key == "unlucky":
            raise ZeroDivisionError
        return admit(self, worker, submission, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(RequestTable, "admit", fails)

    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [document("unlucky", 3), document("good", 3)]

    world = play(scene)
    assert (world.refusal("unlucky").code, world.scored("good"), bad_messages(world)) == ("internal_error", [0], 1)


def test_a_worker_cancels_its_own_documents_only() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0), hello(B, 0)]
        yield [document("first", 4), document("a's", 3, worker=A), cancelled("a's", worker=B)]

    assert play(scene, workers=2).scored("a's") == [0]


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_no_frames_end_the_loop_or_cost_an_honest_document_its_answer(seed: int) -> None:
    found = fuzz_wire(seed, frames=100)
    assert found.refused + found.understood == found.frames


SPEED = 20.0
"""Tokens a second that the warm-up shows."""
LONG = (10,) * 50
"""The sequences of a document that an idle engine of this speed computes in 25 s."""


@pytest.mark.parametrize("count", [1, 10, 100])
def test_documents_too_long_for_an_idle_engine_are_no_demand_and_no_load(count: int) -> None:
    def scene(world: World) -> Iterator[Turn]:
        world.load(timed=TimedBatch(BUDGET, BUDGET / SPEED))
        yield [hello()]
        yield [document(f"k{n}", *LONG, deadline=world.now + 20.0, allowed=20.0) for n in range(count)]
        world.now += 1
        yield []
        yield []
        assert {world.refusal(f"k{n}").code for n in range(count)} == {"too_long_for_deadline"}
        assert world.refusal("k0").retry_after_seconds is None
        assert value(world.metrics.queue.work_ratio) == 0
        assert value(world.metrics.queue.backlog_seconds) <= BUDGET / SPEED, "at most the batch that measures"
        assert value(world.metrics.refusals.labels("too_long_for_deadline")) == 0

    world = play(scene, loaded=False)
    assert len(world.encoder.batches) == 1


@played(loaded=False)
def test_a_document_that_another_task_would_finish_is_demand_and_load(world: World) -> Iterator[Turn]:
    world.load(timed=TimedBatch(BUDGET, BUDGET / SPEED))
    yield [hello()]
    yield [document(key, *[10] * 4, deadline=world.now + 3.0, allowed=3.0) for key in ("first", "second")]
    world.now += 1
    yield []
    yield []
    assert world.refusal("second").code == "deadline_exceeded"
    assert world.refusal("second").retry_after_seconds is not None
    assert value(world.metrics.queue.work_ratio) > 0.3
    assert value(world.metrics.queue.backlog_seconds) > 2
    assert value(world.metrics.refusals.labels("deadline_exceeded")) == 1


@played(loaded=False)
def test_an_engine_that_refuses_by_its_warm_up_alone_measures_again(world: World) -> Iterator[Turn]:
    """The warm-up was slow. The refusal has it compute some of the document, and the next such document is admitted."""
    world.now = time.monotonic()  # By which batches are timed.
    world.load(timed=TimedBatch(BUDGET, BUDGET / SPEED))
    yield [hello()]
    yield [document("k", *[10] * 9, deadline=world.now + 4.0, allowed=4.0)]
    assert world.refusal("k").code == "too_long_for_deadline"
    assert world.status().alone_tokens_per_second[MODEL] == pytest.approx(SPEED)
    world.device.step()
    yield []
    world.now += 1
    yield []
    assert world.status().alone_tokens_per_second[MODEL] > SPEED
    yield [document("again", *[10] * 9, deadline=world.now + 4.0, allowed=4.0)]
    assert world.answers("again") == []


@played(loaded=False)
def test_an_idle_engine_judges_by_the_document_s_own_model(world: World) -> Iterator[Turn]:
    """By the speed of the mixture, which is that of the slow warm-up, it would be late."""
    world.now = time.monotonic()
    world.load(timed=TimedBatch(BUDGET, 100.0))
    yield [hello()]
    yield [document("fast", 10)]
    world.device.step()
    yield []
    world.now += 1
    yield []
    mixed = world.status().tokens_per_second
    assert mixed is not None
    assert mixed < 1.0
    yield [document("k", *[10] * 3, deadline=world.now + 10.0, allowed=10.0)]
    assert world.answers("k") == []


@played(loaded=False)
def test_refusals_measure_once_in_a_while_and_no_model_that_is_gone(world: World) -> Iterator[Turn]:
    world.load(timed=TimedBatch(BUDGET, 1e9))
    yield [hello()]
    for key in ("first", "second"):
        yield [document(key, *LONG, allowed=0.0), document(f"{key} gone", 5, model="sha256:nobody", allowed=0.0)]
        world.device.finish()
        yield []
        yield []
        codes = [world.refusal(each).code for each in (key, f"{key} gone")]
        assert codes == ["too_long_for_deadline", "engine_restarting"]
        assert len(world.encoder.batches) == 1


@played(loaded=False)
def test_the_speed_of_a_revision_that_was_dropped_is_forgotten(world: World) -> Iterator[Turn]:
    world.load(timed=TimedBatch(BUDGET, 1.0))
    yield [hello()]
    models = world.loop.models
    assert world.status().alone_tokens_per_second.keys() == {MODEL, OTHER_MODEL}
    for revision in ("sha256:c", "sha256:d"):
        model = replace(models[MODEL], status=structs.replace(models[MODEL].status, revision=revision))
        models.weights.reserve(revision, 1, world.now)
        models.admit_candidate(ProfiledModel(model, unmeasured(BUDGET, BUDGET)), world.now)
        models.switch("m", revision)
    yield [(A, Hello(1, models_version=models.version), None)]
    world.now += 1
    yield []
    assert MODEL not in models
    assert world.status().alone_tokens_per_second.keys() == {OTHER_MODEL}
