"""How the loop keeps the device busy: what it launches, in which order, and when it waits."""

from __future__ import annotations

from collections.abc import Iterator

from service.wire import Scored, Started
from tests.support.engine_scenes import OTHER_MODEL, Turn, World, document, hello, play


def test_a_lone_document_is_launched_at_once_and_its_worker_told() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("k", 3)]
        assert (len(world.device.waiting), world.started()) == (1, [("k",)])
        world.device.step()
        yield []
        assert world.scored("k") == [0]

    play(scene)


def test_the_loop_waits_only_when_there_is_nothing_to_launch() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield []
        assert world.waits[-1] > 0
        yield [document("k", 3)]
        world.device.step()

    play(scene)


def test_while_the_device_computes_a_batch_stays_open_for_late_arrivals() -> None:
    def scene(world: World) -> Iterator[Turn]:
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

    play(scene)


def test_the_next_batch_is_launched_before_the_last_one_is_delivered() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("second", 4)]
        world.device.step()
        yield []
        kinds = [type(message) for _, message in world.sent if isinstance(message, Started | Scored)]
        assert kinds == [Started, Started, Scored]

    play(scene)


def test_a_full_batch_is_formed_ahead_and_no_third_one() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("second", 5), document("third", 5), document("fourth", 10)]
        assert world.started() == [("first",), ("second", "third")]
        assert len(world.device.waiting) == 2
        world.device.step()
        yield []
        assert world.started()[2:] == [("fourth",)]

    play(scene)


def test_a_long_document_goes_out_in_windows_and_comes_back_whole() -> None:
    world = play(lambda _: iter([[], [document("long", 10, 10, 10, 4)]]))
    assert sorted(world.scored("long")) == [0, 1, 2, 3]


def test_a_repeated_submission_is_answered_once() -> None:
    world = play(lambda _: iter([[], [document("k", 3), document("k", 3)], [document("k", 3)]]))
    assert world.scored("k") == [0]


def test_models_are_not_mixed_in_a_batch() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield []
        yield [document("a", 3), document("b", 3, model=OTHER_MODEL)]

    assert sorted(play(scene).encoder.batches) == [[3], [3]]
