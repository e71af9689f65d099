"""The fitted function: never below a measured point, close to it, and its inversions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.memory.cost_model import MeasuredPeak, MemoryCostModel, ProbeAccuracy, fit
from service.core.types import Shape

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
