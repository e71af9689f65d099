"""Workers of the loop: what they hear, what they take back, and what becomes of those that fall silent."""

from __future__ import annotations

from collections.abc import Iterator

from service.core.lifecycle.drain import WORKER_SILENCE_SECONDS
from service.core.types import Phase
from service.engine.requests.status import STATUS_SECONDS
from service.wire import Status
from tests.support.engine_scenes import A, B, Turn, World, cancelled, document, hello, play


def test_a_new_worker_hears_at_once_how_things_are_and_all_hear_it_again() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [hello(B)]
        assert world.status(B).phase is Phase.READY
        before = len(world.sent)
        world.now += STATUS_SECONDS
        yield []
        assert [name for name, message in world.sent[before:] if isinstance(message, Status)] == [B]

    play(scene)


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
