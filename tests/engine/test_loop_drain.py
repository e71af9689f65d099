"""How the loop comes to its end, what it still takes, whom it waits for, and how its process ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.core.drain import WORKER_SILENCE_SECONDS
from service.core.types import Phase
from service.engine.requests.status import STATUS_SECONDS
from service.wire import Refused, Status
from tests.support.engine_scenes import (
    DRAIN_SECONDS,
    GRACE_SECONDS,
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


def test_in_its_grace_a_draining_engine_admits_and_finishes() -> None:
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


@played()
def test_a_draining_engine_waits_for_every_worker_to_know_and_to_be_quiet(world: World) -> Iterator[Turn]:
    yield [hello(A), hello(B)]
    world.stopping = True
    world.now += GRACE_SECONDS
    yield []
    world.now += GRACE_SECONDS
    yield [hello(A, 0, closed=True), hello(B, 0, closed=False)]
    yield [hello(B, 1, closed=True)]
    yield [hello(B, 0, closed=True)]
    raise AssertionError("the loop should have ended")


@played()
def test_a_draining_engine_does_not_wait_for_a_worker_that_is_gone(world: World) -> Iterator[Turn]:
    yield [hello(A)]
    world.stopping = True
    world.now += GRACE_SECONDS
    yield []
    for _ in range(int(WORKER_SILENCE_SECONDS) + 2):
        world.now += 1.0
        yield []
    raise AssertionError("the loop should have ended")


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


@played(loaded=False, workers=2)
def test_a_stop_while_loading_ends_the_loop_once_workers_reported(world: World) -> Iterator[Turn]:
    yield [hello(active=0)]
    world.stopping = True
    yield []
    world.now += WORKER_SILENCE_SECONDS
    yield []
    raise AssertionError("the loop should have ended")


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


@played(loaded=False)
def test_a_stop_while_loading_waits_for_what_a_predecessor_left(world: World) -> Iterator[Turn]:
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


@played()
def test_a_new_worker_hears_at_once_how_things_are_and_all_hear_it_again(world: World) -> Iterator[Turn]:
    yield []
    yield [hello(B)]
    assert world.status(B).phase is Phase.READY
    before = len(world.sent)
    world.now += STATUS_SECONDS
    yield []
    assert [name for name, message in world.sent[before:] if isinstance(message, Status)] == [B]


def test_a_document_that_is_cancelled_while_it_waits_is_never_computed() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("gone", 3)]
        yield [cancelled("gone")]

    world = play(scene)
    assert (world.answers("gone"), world.started(), world.scored("first")) == ([], [("first",)], [0])


def test_a_document_that_is_cancelled_while_it_runs_gets_nothing() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("gone", 4, 4), document("stays", 2)]
        yield [cancelled("gone"), cancelled("never there")]
        world.device.step()

    world = play(scene)
    assert (world.answers("gone"), world.scored("stays")) == ([], [0])


def test_a_worker_that_falls_silent_is_worked_for_no_more_and_others_are() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A), hello(B)]
        yield [document("first", 4, worker=B)]
        yield [document("silent's", 3, worker=A), document("other's", 3, worker=B)]
        for _ in range(int(WORKER_SILENCE_SECONDS) + 2):
            world.now += 1.0
            yield [hello(B)]
        assert world.refusal("silent's").code == "too_much_at_once"

    world = play(scene)
    assert (world.scored("other's"), world.scored("first"), world.scored("silent's")) == ([0], [0], [])


def test_a_pause_of_the_engine_itself_costs_no_worker_its_documents() -> None:
    """As after SIGSTOP and SIGCONT of the whole container: the engine may go on before the workers do."""

    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A)]
        yield [document("first", 4)]
        yield [document("waits", 3)]
        world.now += 3_600.0
        yield []
        world.now += 1.0
        yield []
        yield [hello(A)]

    world = play(scene)
    assert (world.scored("first"), world.scored("waits")) == ([0], [0])


ENDING = """
import threading
from concurrent.futures import ThreadPoolExecutor
from service.engine.__main__ import end_process

hanging = ThreadPoolExecutor(1).submit(threading.Event().wait)  # An ordinary exit joins its thread.

def run():
    {work}

end_process(run)
"""


@pytest.mark.parametrize(("work", "code"), [("return 69", 69), ("raise RuntimeError('CUDA error')", 1)])
def test_a_process_ends_though_a_thread_hangs_in_a_driver(work: str, code: int) -> None:
    root = Path(__file__).parents[2]
    program = ENDING.format(work=work)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=root)
    assert done.returncode == code
    assert ("CUDA error" in done.stderr) == (code == 1)
