"""How the loop keeps the device busy: what it launches, in which order, and when it waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.core.debug_snapshot import DebugSnapshot
from service.core.scheduling.throughput import TimedBatch
from service.wire import DebugSnapshotReply, DebugSnapshotRequest, Refused, Scored, Started, Submitted
from tests.support.engine_scenes import (
    BUDGET,
    FAR,
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


@played()
def test_a_lone_document_is_launched_at_once_and_its_worker_told(world: World) -> Iterator[Turn]:
    yield [hello()]
    yield [document("k", 3)]
    assert (len(world.device.waiting), world.started()) == (1, [("k",)])
    world.device.step()
    yield []
    assert world.scored("k") == [0]


@played()
def test_tokens_with_boxes_reach_the_device_as_rows(world: World) -> Iterator[Turn]:
    worker, submitted, _ = document("k", 3, 1)
    assert isinstance(submitted, Submitted)
    yield [hello()]
    yield [(worker, replace(submitted, columns=5), np.arange(20, dtype=np.int32))]
    world.device.step()
    yield []
    scored = [each for each in world.answers("k") if isinstance(each, Scored)]
    assert [(each.tokens, each.labels) for each in scored] == [(3, 5), (1, 5)]


@played()
def test_the_loop_waits_only_when_there_is_nothing_to_launch(world: World) -> Iterator[Turn]:
    yield []
    yield []
    assert world.waits[-1] > 0
    yield [document("k", 3)]
    world.device.step()


@played()
def test_while_the_device_computes_a_batch_stays_open_for_late_arrivals(world: World) -> Iterator[Turn]:
    yield []
    yield [document("first", 4)]
    yield [document("second", 4)]
    yield [document("third", 3)]
    assert len(world.device.waiting) == 1
    world.device.step()
    yield []
    assert world.started() == [("first",), ("second", "third")]
    world.device.step()
    assert world.encoder.batches == [[4], [4, 3]]


@played()
def test_the_next_batch_is_launched_before_the_last_one_is_delivered(world: World) -> Iterator[Turn]:
    yield []
    yield [document("first", 4)]
    yield [document("second", 4)]
    world.device.step()
    yield []
    kinds = [type(message) for _, message in world.sent if isinstance(message, Started | Scored)]
    assert kinds == [Started, Started, Scored]


@played()
def test_a_full_batch_is_formed_ahead_and_no_third_one(world: World) -> Iterator[Turn]:
    yield []
    yield [document("first", 4)]
    yield [document("second", 5), document("third", 5), document("fourth", 10)]
    assert world.started() == [("first",), ("second", "third")]
    assert len(world.device.waiting) == 2
    world.device.step()
    yield []
    assert world.started()[2:] == [("fourth",)]


def test_models_are_not_mixed_in_a_batch() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield []
        yield [document("a", 3), document("b", 3, model=OTHER_MODEL)]

    assert sorted(play(scene).encoder.batches) == [[3], [3]]


KEYS = st.sampled_from([f"k{n}" for n in range(12)])
LENGTHS = st.lists(st.integers(1, BUDGET + 1), min_size=1, max_size=4)
ACTIONS = st.one_of(
    st.tuples(st.just("submit"), KEYS, LENGTHS, st.sampled_from([A, B]), st.sampled_from([FAR, FAR, 1_005.0, 900.0])),
    st.tuples(st.just("submit broken"), KEYS, LENGTHS, st.sampled_from([A, B]), st.just(FAR)),
    st.tuples(st.just("cancel"), KEYS),
    st.tuples(st.just("compute")),
    st.tuples(st.just("wait"), st.floats(0.1, 3.0)),
    st.tuples(st.just("turn")),
)


@given(st.lists(ACTIONS, max_size=40))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_every_document_is_answered_exactly_once(actions: list[Any]) -> None:
    submitted: dict[str, int] = {}
    owners: dict[str, bytes] = {}
    gone: dict[str, int] = {}

    def scene(world: World) -> Iterator[Turn]:
        turn: Turn = []
        yield [hello(A), hello(B)]
        for action in actions:
            match action:
                case (str(kind), key, lengths, worker, deadline) if key not in submitted:
                    submitted[key], owners[key] = len(lengths), worker
                    broken = 0 if kind == "submit broken" else None
                    turn.append(document(key, *lengths, worker=worker, deadline=deadline, broken=broken))
                case ("cancel", key) if key in submitted and key not in gone:
                    yield turn
                    gone[key] = len(world.answers(key))
                    turn = [cancelled(key, owners[key])]
                case ("compute",) if world.device.waiting:
                    world.device.step()
                case ("wait", seconds):
                    world.now += seconds
                    turn += [hello(A), hello(B)]
                case ("turn",):
                    yield turn
                    turn = []
        yield turn

    world = play(scene)
    for key, sequences in submitted.items():
        answers = world.answers(key)
        refusals = [answer for answer in answers if isinstance(answer, Refused)]
        scored = Counter(answer.index for answer in answers if isinstance(answer, Scored))
        assert all(count == 1 for count in scored.values()), f"{key}: a sequence was answered twice"
        if key in gone:
            assert len(answers) == gone[key], f"{key}: answered after it was cancelled"
        elif refusals:
            assert answers[-1:] == refusals, f"{key}: refused more than once, or answered after it was refused"
        else:
            assert set(scored) == set(range(sequences)), f"{key}: sequences without an answer"


def snapshot(world: World, worker: bytes = A) -> DebugSnapshot:
    """What this worker was told last."""
    return [m for name, m in world.sent if name == worker and isinstance(m, DebugSnapshotReply)][-1].snapshot


def test_a_worker_is_told_of_the_batches_after_the_one_it_names() -> None:
    def scene(world: World) -> Iterator[Turn]:
        world.load(timed=TimedBatch(BUDGET, 0.5))
        yield [hello(A), hello(B)]
        yield [document("k", 3, 2), document("l", 4, worker=B)]
        world.device.finish()
        yield []
        yield [document("m", 1)]
        world.device.finish()
        yield []
        yield [(A, DebugSnapshotRequest(0), None)]
        yield []
        first, second = snapshot(world).batches
        assert (first.number, second.number) == (1, 2)
        assert (first.model, first.tokens, first.full_tokens) == (MODEL, 9, BUDGET)
        assert first.documents == {"k": (3, 2), "l": (4,)}
        assert first.clients == {"c": 3}
        yield [(A, DebugSnapshotRequest(1), None)]
        yield []
        assert [batch.number for batch in snapshot(world).batches] == [2]

    world = play(scene)
    assert not [m for name, m in world.sent if name == B and isinstance(m, DebugSnapshotReply)]


@played()
def test_it_is_told_of_load_work_ratios_and_refusals(world: World) -> Iterator[Turn]:
    world.load(timed=TimedBatch(BUDGET, 0.5))
    yield [hello(A)]
    yield [document("k", 3), document("too long", BUDGET + 1), (A, DebugSnapshotRequest(0), None)]
    yield []
    found = snapshot(world)
    assert found.work_ratios["compute"] > 0
    assert set(found.work_ratios) == {"compute", "tokenize", "parse"}
    assert found.tokens_per_second == pytest.approx(20.0)
    ((code, count),) = [(each.code, each.documents) for each in found.refusals]
    assert (code, count) == ("insufficient_memory", 1)
    assert "always fit" in found.refusals[0].detail
    assert found.memory is None
    world.device.finish()
    yield []


@played(loaded=False)
def test_before_there_are_models_there_is_an_answer_too(world: World) -> Iterator[Turn]:
    yield [(A, DebugSnapshotRequest(0), None)]
    yield []
    assert snapshot(world).batches == ()
    world.load()
    yield [hello(A)]
