"""Memory budgets and the headroom that they share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.memory.budget import GROWTH_PER_SECOND, HOLD_SECONDS, Budget, Headroom, ModelMemory, floor_bytes
from service.core.memory.cost_model import MemoryCostModel
from service.core.types import Shape
from tests.support.budgets import unmeasured

GIB = 1 << 30


def test_another_process_takes_memory_and_the_room_shrinks_at_once() -> None:
    room = Headroom(10 * GIB, GIB)
    room.update(3 * GIB, 0.0)
    assert (room.bytes, room.shrinks) == (3 * GIB, 1)


def test_small_variations_of_free_memory_are_not_counted() -> None:
    room = Headroom(100 * GIB, GIB)
    for second in range(60):
        room.update((100 - second % 3) * GIB, float(second))
    assert room.shrinks == 0
    for second in range(60, 80):
        room.update((160 - second) * GIB, float(second))
    assert room.shrinks == 3, "a slow leak counts with every twentieth"


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


SMALL = ModelMemory(MemoryCostModel(100, 2, 0, 0, 1, 0.0), longest_tokens=100, most_tokens=1_000)
LARGE = ModelMemory(MemoryCostModel(100, 20, 0, 0, 1, 0.0), longest_tokens=100, most_tokens=1_000)


def _budget(available_bytes: int) -> Budget:
    models = {"small": SMALL, "large": LARGE}
    return Budget(Headroom(available_bytes, floor_bytes(models.values())), models)


def test_where_memory_cannot_be_read_only_tokens_count() -> None:
    model = unmeasured(longest_tokens=512, most_tokens=2_048)
    budget = Budget(Headroom(1 << 62, model.floor_bytes()), {"m": model})
    assert (budget.budget_tokens("m"), budget.smallest_budget_tokens("m")) == (2_048, 512)
    assert budget.admits("m", Shape.of([512] * 4))
    assert not budget.admits("m", Shape.of([512] * 4 + [1]))


def test_each_model_has_its_own_budget_in_the_same_room() -> None:
    budget = _budget(10_000)
    assert budget.budget_tokens("small") == 1_000
    assert budget.budget_tokens("large") == 494
    assert budget.admits("small", Shape.of([100] * 10))
    assert not budget.admits("large", Shape.of([100] * 10))


def test_models_come_and_go() -> None:
    budget = _budget(10_000)
    budget.put("other", SMALL)
    assert budget.budget_tokens("other") == 1_000
    budget.drop("other")
    assert set(budget.functions()) == {"small", "large"}


def test_where_the_longest_sequence_does_not_fit_shorter_ones_do() -> None:
    budget = _budget(1_101)
    assert budget.smallest_budget_tokens("small") == 100
    assert budget.smallest_budget_tokens("large") == 49


@given(
    available=st.integers(0, 5_000),
    later=st.lists(st.tuples(st.booleans(), st.integers(0, 10_000)), max_size=20),
    lengths=st.lists(st.integers(1, 100), min_size=1, max_size=5),
)
def test_every_admitted_sequence_fits_whatever_happens(
    available: int, later: list[tuple[bool, int]], lengths: list[int]
) -> None:
    """The invariant: what is admitted can be launched alone, after any shrinking."""
    budget = _budget(available)
    admitted = [(m, n) for m in ("small", "large") for n in lengths if n <= budget.smallest_budget_tokens(m)]
    for now, (fails, size) in enumerate(later):
        budget.headroom.failed(size, float(now)) if fails else budget.headroom.update(size, float(now))
        assert all(budget.admits(model, Shape.of([tokens])) for model, tokens in admitted)
        assert all(tokens <= budget.budget_tokens(model) for model, tokens in admitted)


def test_want_of_memory_shrinks_the_room_by_what_the_batch_needed() -> None:
    budget = _budget(100_000)
    budget.failed("small", Shape.of([100] * 10), now=0.0)
    assert budget.headroom.bytes < MemoryCostModel(100, 2, 0, 0, 1, 0.0).bytes(Shape.of([100] * 10))
    assert budget.headroom.shrinks == 1
