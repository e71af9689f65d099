"""The room shrinks at once, holds its floor, and grows back slowly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.memory.headroom import GROWTH_PER_SECOND, HOLD_SECONDS, Headroom

GIB = 1 << 30


def test_another_process_takes_memory_and_the_room_shrinks_at_once() -> None:
    room = Headroom(10 * GIB, GIB)
    room.update(3 * GIB, 0.0)
    assert (room.bytes, room.shrinks) == (3 * GIB, 1)


def test_it_never_shrinks_below_its_floor() -> None:
    room = Headroom(10 * GIB, GIB)
    room.update(0, 0.0)
    room.failed(1, 1.0)
    assert room.bytes == GIB


def test_it_grows_back_slowly_and_only_after_a_while() -> None:
    room = Headroom(10 * GIB, GIB)
    room.update(2 * GIB, 0.0)
    for second in range(1, int(HOLD_SECONDS)):
        room.update(10 * GIB, float(second))
    assert room.bytes == 2 * GIB
    room.update(10 * GIB, HOLD_SECONDS)
    assert room.bytes == 2 * GIB + int(10 * GIB * GROWTH_PER_SECOND)
    for second in range(int(HOLD_SECONDS) + 1, 60):
        room.update(10 * GIB, float(second))
    assert room.bytes == 10 * GIB


def test_a_failure_leaves_less_than_the_batch_was_thought_to_need() -> None:
    room = Headroom(10 * GIB, GIB)
    room.failed(4 * GIB, 0.0)
    assert room.bytes == 3 * GIB
    room.update(10 * GIB, 1.0)
    assert room.bytes == 3 * GIB


def test_a_small_start_is_its_own_floor() -> None:
    room = Headroom(100, GIB)
    assert (room.bytes, room.floor_bytes) == (100, 100)


def test_the_floor_follows_the_models_that_are_there() -> None:
    room = Headroom(10 * GIB, GIB)
    room.require(2 * GIB)
    room.update(0, 0.0)
    assert room.bytes == 2 * GIB


@given(st.lists(st.tuples(st.integers(0, 100), st.floats(0.01, 3.0)), max_size=60))
def test_it_is_never_above_what_is_there_unless_at_its_floor(steps: list[tuple[int, float]]) -> None:
    room, now = Headroom(80, 10), 0.0
    for available, seconds in steps:
        now += seconds
        room.update(available, now)
        assert room.bytes <= max(available, room.floor_bytes)
        assert room.bytes >= room.floor_bytes


def test_a_floor_for_which_there_was_no_room_at_first_rises_with_the_room() -> None:
    room = Headroom(GIB // 2, GIB)
    for second in range(1, 60):
        room.update(10 * GIB, float(second))
    assert room.floor_bytes == GIB
    room.update(0, 60.0)
    assert room.bytes == GIB
