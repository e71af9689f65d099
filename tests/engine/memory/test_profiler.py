"""The shapes of a memory profile, the cost model it gives, and devices too small for some or all shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.arrays import Logits, TokenIds
from service.core.errors import ModelError
from service.engine.memory.profiler import measure_peaks, profile_memory, shapes
from tests.support.memory_probes import BYTES_PER_TOKEN, REST_BYTES, Device, EncoderOn


def test_shapes_are_few_long_many_short_and_mixtures() -> None:
    assert shapes(512, 2_048) == [
        [16],
        [128],
        [16] * 16,
        [512],
        [16] * 32,
        [128] * 4,
        [512] * 4,
    ]


@given(st.integers(1, 1_000), st.integers(0, 70_000))
def test_shapes_ascend_to_nearly_the_most_tokens(longest: int, more: int) -> None:
    most = longest + more
    batches = shapes(longest, most)
    assert all(0 < sum(lengths) <= most and max(lengths) <= longest for lengths in batches)
    assert sum(batches[-1]) > most - longest
    assert [sum(lengths) for lengths in batches] == sorted(map(sum, batches))


def test_the_cost_model_of_a_device_is_found() -> None:
    device = Device(10_000_000)
    cost_model = profile_memory(EncoderOn(device), device, 512, 4_096)
    assert cost_model.bytes_per_token == pytest.approx(BYTES_PER_TOKEN, rel=0.01)
    assert device.cache_releases == 1


def test_shapes_that_do_not_fit_are_left_out() -> None:
    device = Device(REST_BYTES + 600 * BYTES_PER_TOKEN)
    points = measure_peaks(EncoderOn(device), device, 512, 4_096)
    assert max(point.shape.tokens for point in points) == 512
    assert all(point.peak_bytes == point.shape.tokens * BYTES_PER_TOKEN for point in points)


def test_shapes_are_run_again_for_a_second() -> None:
    device = Device(10_000_000)
    encoder, ticks = EncoderOn(device), count()
    points = measure_peaks(encoder, device, 512, 1_024, clock=lambda: next(ticks) * 0.4)
    assert len(encoder.batches) == 3 * len(points)


def test_a_device_that_fits_no_shape_is_an_error() -> None:
    device = Device(REST_BYTES)
    with pytest.raises(ModelError, match="does not hold the smallest batch"):
        measure_peaks(EncoderOn(device), device, 512, 1_024)


def test_a_failure_that_is_not_out_of_memory_is_raised() -> None:
    class Broken(EncoderOn):
        def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
            raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        measure_peaks(Broken(Device(1)), Device(10), 16, 16)
