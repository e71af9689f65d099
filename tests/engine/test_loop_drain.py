"""How the loop comes to its end: what it still takes, whom it waits for, and what it refuses at last."""

from __future__ import annotations

from collections.abc import Iterator

from service.core.lifecycle.drain import WORKER_SILENCE_SECONDS
from service.core.types import Phase
from service.wire import Refused
from tests.support.engine_scenes import DRAIN_SECONDS, GRACE_SECONDS, A, B, Turn, World, document, hello, play


def test_during_its_grace_a_draining_engine_admits_and_finishes_what_it_has() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        world.stopping = True
        yield [document("early", 3)]
        assert (world.status().phase, world.status().admitting) == (Phase.DRAINING, True)
        world.now += GRACE_SECONDS
        yield [hello(active=1)]
        assert not world.status().admitting
        yield [document("let in before", 3)]  # The worker let its request in while admission was open.
        world.device.finish()
        yield []
        world.device.finish()
        yield [hello(active=0, closed=True)]

    world = play(scene)
    assert (world.scored("early"), world.scored("let in before")) == ([0], [0])


def test_a_draining_engine_waits_for_every_worker_to_know_and_to_be_quiet() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A), hello(B)]
        world.stopping = True
        world.now += GRACE_SECONDS
        yield []
        world.now += GRACE_SECONDS
        yield [hello(A, 0, closed=True), hello(B, 0, closed=False)]
        yield [hello(B, 1, closed=True)]
        yield [hello(B, 0, closed=True)]
        raise AssertionError("the loop should have ended")

    play(scene)


def test_a_draining_engine_does_not_wait_for_a_worker_that_is_gone() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A)]
        world.stopping = True
        world.now += GRACE_SECONDS
        yield []
        for _ in range(int(WORKER_SILENCE_SECONDS) + 2):
            world.now += 1.0
            yield []
        raise AssertionError("the loop should have ended")

    play(scene)


def test_when_the_drain_is_over_what_is_left_is_refused() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("running", 10), document("waiting", 10, 10)]
        world.stopping = True
        yield [hello()]
        world.now += GRACE_SECONDS + DRAIN_SECONDS
        yield [hello()]
        assert (world.refusal("running").code, world.refusal("waiting").code) == ("draining", "draining")

    world = play(scene)
    assert [type(answer) for key in ("running", "waiting") for answer in world.answers(key)] == [Refused, Refused]


def test_a_stop_while_loading_ends_the_loop_once_workers_had_time_to_report() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(active=0)]
        world.stopping = True
        yield []
        world.now += WORKER_SILENCE_SECONDS
        yield []
        raise AssertionError("the loop should have ended")

    play(scene, loaded=False, workers=2)


def test_a_stopped_successor_waits_for_workers_that_have_not_reported() -> None:
    def scene(world: World) -> Iterator[Turn]:
        world.stopping = True
        yield []
        world.now += GRACE_SECONDS
        yield []
        yield [document("left by the one before", 3), hello(active=1, closed=True)]
        world.device.finish()
        yield []
        yield [hello(active=0, closed=True)]
        raise AssertionError("the loop should have ended")

    assert play(scene).scored("left by the one before") == [0]


def test_a_stop_while_loading_waits_for_what_a_predecessor_left() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        world.stopping = True
        yield []
        world.now += 3.0
        yield []
        world.load()
        yield []
        yield [document("a", 3), hello(active=1, closed=True)]
        world.device.finish()
        yield []
        assert world.scored("a") == [0]
        world.now += GRACE_SECONDS
        yield [hello(active=0, closed=True)]
        raise AssertionError("the loop should have ended")

    play(scene, loaded=False)
