"""Memory budgets, the headroom that they share, the fitted cost model, and the arithmetic of a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import InsufficientMemory
from service.core.memory.budget import GROWTH_PER_SECOND, HOLD_SECONDS, Budget, Headroom, ModelMemory, floor_bytes
from service.core.memory.capacity_plan import CONTEXT_BYTES, GIBIBYTE, ModelMeasurements, plan
from service.core.memory.cost_model import MeasuredPeak, MemoryCostModel, ProbeAccuracy, fit
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


EXACT = ProbeAccuracy(noise_bytes=0, margin=1.0)
LENGTHS = ([16], [128], [512], [16] * 32, [512, *[16] * 16], [128] * 4, [512] * 4)


def _points(fixed: float, token: float, pair: float, sequence: float, spread: float = 0.0) -> list[MeasuredPeak]:
    """Points of a device that follows the formula, but for a seeded spread."""
    draw = np.random.default_rng(0)
    points = []
    for lengths in LENGTHS:
        shape = Shape.of(lengths)
        plain = fixed + (token + pair * shape.longest) * shape.tokens + sequence * shape.sequences
        points.append(MeasuredPeak(shape, int(plain * (1 + spread * draw.uniform(-1, 1)))))
    return points


def test_a_device_that_follows_the_formula_is_found_out() -> None:
    function = fit(_points(5e6, 30_000, 0, 500), EXACT)
    assert function.bytes_per_token == pytest.approx(30_000, rel=1e-3)
    assert function.fixed_bytes == pytest.approx(5e6, rel=1e-2)
    assert function.error_ratio == pytest.approx(0.0, abs=1e-3)


def test_attention_that_is_held_as_a_whole_is_found_out() -> None:
    function = fit(_points(0, 20_000, 48, 0), EXACT)
    assert function.bytes_per_token_pair == pytest.approx(48, rel=1e-2)


@given(
    st.tuples(st.floats(0, 1e8), st.floats(100, 1e5), st.floats(0, 100), st.floats(0, 1e4)),
    st.floats(0, 0.3),
    st.floats(1.0, 1.3),
    st.integers(0, 1 << 24),
)
def test_no_measured_point_is_above_the_function(
    device: tuple[float, float, float, float], spread: float, margin: float, noise: int
) -> None:
    points = _points(*device, spread)
    function = fit(points, ProbeAccuracy(noise, margin))
    assert all(function.bytes(point.shape) >= point.peak_bytes for point in points)


@given(st.lists(st.integers(1, 512), min_size=1, max_size=64), st.integers(1, 512))
def test_bytes_never_fall_when_a_batch_grows(lengths: list[int], more: int) -> None:
    function = fit(_points(1e6, 30_000, 10, 100, spread=0.2), ProbeAccuracy(1_000, 1.1))
    shape = Shape.of(lengths)
    assert function.bytes(shape.plus(more)) >= function.bytes(shape)


def test_the_error_is_that_of_the_larger_batches() -> None:
    function = fit(_points(1e6, 30_000, 0, 0), ProbeAccuracy(0, 1.15))
    assert function.error_ratio == pytest.approx(0.15, abs=1e-3)


@given(st.integers(0, 10_000_000), st.integers(1, 512), st.integers(1, 5_000))
def test_the_budget_is_the_most_that_fits(room: int, longest: int, most: int) -> None:
    function = MemoryCostModel(10_000, 1_000, 2, 3, 50, 0.0)
    tokens = function.largest_tokens(room, longest, most)
    shapes = [Shape(n, min(n, longest), -(-n // longest)) for n in (tokens, tokens + 1)]
    assert tokens == 0 or function.bytes(shapes[0]) <= room
    assert tokens == most or function.bytes(shapes[1]) > room


def test_a_model_of_no_points_is_refused() -> None:
    with pytest.raises(ValueError, match="point"):
        fit([], ProbeAccuracy(0, 0.0))


MEMORY = ModelMemory(MemoryCostModel(5_000, 1_000, 0, 0, 0, 0.25), longest_tokens=500, most_tokens=8_000)
MEASURED = ModelMeasurements(
    model="m@stable",
    device="here",
    dtype="bfloat16",
    weights_bytes=2_000_000,
    memory=MEMORY,
    available_bytes=9_000_000,
    fraction=0.9,
    weights_share=0.75,
    gpu_batch_tokens=65_536,
    tokens_per_second=1_234.0,
)


def test_the_plan_for_the_device_at_hand() -> None:
    found = plan(MEASURED)
    assert (found.device, found.measured_on, found.tokens_per_second) == ("here", "here", 1_234.0)
    assert (found.weights_bytes, found.activation_bytes_per_1000_tokens) == (2_000_000, 1_000_000)
    assert found.workspace_bytes == 6_001
    assert found.room_bytes == 9_000_000
    assert (found.batch_tokens, found.memory_batch_tokens) == (8_000, 8_994)
    assert found.models == int((10_000_000 + 2_000_000) * 0.75) // 2_000_000
    assert found.longest_sequence_tokens == 500


def test_the_plan_for_a_gpu_of_another_size() -> None:
    found = plan(MEASURED, gpu_memory_gib=1)
    free = GIBIBYTE - CONTEXT_BYTES
    assert found.device == "a GPU of 1 GiB"
    assert found.room_bytes == int((free - 2_000_000) * 0.9)
    assert found.batch_tokens == 65_536
    assert found.models == int(free * 0.75) // 2_000_000


def test_a_model_that_does_not_fit_at_all() -> None:
    """Its figures were zeros, with a speed beside them."""
    with pytest.raises(InsufficientMemory, match=r"does not fit a GPU of 1 GiB.* 1\.50 GiB"):
        plan(replace(MEASURED, weights_bytes=GIBIBYTE), gpu_memory_gib=1)
    with pytest.raises(InsufficientMemory, match="does not fit here"):
        plan(replace(MEASURED, available_bytes=100))
