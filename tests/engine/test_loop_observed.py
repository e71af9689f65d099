"""Who looks is told what the loop does; who does not, is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.core.observation import Observation
from service.core.scheduling.throughput import TimedBatch
from service.wire import Observe, Observed
from tests.support.engine_scenes import BUDGET, MODEL, A, B, Turn, World, document, hello, play


def observed(world: World, worker: bytes = A) -> Observation:
    """What this worker was told last."""
    return [m for name, m in world.sent if name == worker and isinstance(m, Observed)][-1].observation


def test_a_worker_that_looks_is_told_of_the_batches_after_the_one_that_it_names() -> None:
    def scene(world: World) -> Iterator[Turn]:
        world.load(timed=TimedBatch(BUDGET, 0.5))
        yield [hello(A), hello(B)]
        yield [document("k", 3, 2), document("l", 4, worker=B)]
        world.device.finish()
        yield []
        yield [document("m", 1)]
        world.device.finish()
        yield []
        yield [(A, Observe(0), None)]
        yield []
        first, second = observed(world).batches
        assert (first.number, second.number) == (1, 2)
        assert (first.model, first.tokens, first.full_tokens) == (MODEL, 9, BUDGET)
        assert first.documents == {"k": (3, 2), "l": (4,)}
        assert first.clients == {"c": 3}
        yield [(A, Observe(1), None)]
        yield []
        assert [batch.number for batch in observed(world).batches] == [2]

    world = play(scene)
    assert not [m for name, m in world.sent if name == B and isinstance(m, Observed)]


def test_it_is_told_of_load_work_ratios_and_refusals() -> None:
    def scene(world: World) -> Iterator[Turn]:
        world.load(timed=TimedBatch(BUDGET, 0.5))
        yield [hello(A)]
        yield [document("k", 3), document("too long", BUDGET + 1), (A, Observe(0), None)]
        yield []
        found = observed(world)
        assert found.work_ratios["compute"] > 0
        assert set(found.work_ratios) == {"compute", "tokenize", "parse"}
        assert found.tokens_per_second == pytest.approx(20.0)
        ((code, count),) = [(each.code, each.documents) for each in found.refusals]
        assert (code, count) == ("insufficient_memory", 1)
        assert "always fit" in found.refusals[0].detail
        assert found.memory is None
        world.device.finish()
        yield []

    play(scene)


def test_before_there_are_models_there_is_an_answer_too() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [(A, Observe(0), None)]
        yield []
        assert observed(world).batches == ()
        world.load()
        yield [hello(A)]

    play(scene, loaded=False)
