"""The check of a graph: accuracy, speed, and the samples that decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from service.core.arrays import Logits, TokenIds
from service.engine.cuda_graphs.buckets import Bucket
from service.engine.cuda_graphs.validation import RUNS, GraphCheck, compare, race, random_samples, worst_error

ROW = Bucket(tokens=256, above=128, slots=4, longest=256)


@pytest.mark.parametrize(
    ("error", "dtype_name", "accurate"),
    [
        (0.0, "float32", True),
        (2e-4, "float32", False),
        (0.002, "float16", True),
        (0.02, "float16", False),
        (0.01, "bfloat16", True),
        (0.2, "bfloat16", False),
        (math.nan, "bfloat16", False),
        (math.inf, "bfloat16", False),
    ],
)
def test_an_error_within_rounding_is_accurate(error: float, dtype_name: str, accurate: bool) -> None:
    assert GraphCheck(error, 1.0, 0.5).is_accurate(dtype_name) is accurate


@pytest.mark.parametrize(("graph_seconds", "faster"), [(0.5, True), (0.9, True), (0.91, False), (1.5, False)])
def test_a_graph_is_faster_from_a_tenth_on(graph_seconds: float, faster: bool) -> None:
    assert GraphCheck(0.0, 1.0, graph_seconds).is_faster is faster


def test_the_worst_sequence_counts_and_nan_is_the_worst() -> None:
    plain = [np.full((100, 2), 4.0, np.float32), np.full((1, 2), -2.0, np.float32)]
    assert worst_error(plain, plain) == 0.0
    assert worst_error(plain, [plain[0], np.full((1, 2), -3.0, np.float32)]) == pytest.approx(0.5)
    assert math.isnan(worst_error(plain, [np.full((100, 2), np.nan, np.float32), plain[1]]))


class Device:
    """Takes the given seconds for each batch; its logits are the ids, times 1 + `off`."""

    def __init__(self) -> None:
        self.now = 0.0

    def taking(self, seconds: Sequence[float], off: float = 0.0) -> Callable[[Sequence[TokenIds]], list[Logits]]:
        left = list(seconds)

        def forward(sequences: Sequence[TokenIds]) -> list[Logits]:
            self.now += left.pop(0) if left else seconds[-1]
            return [(1 + off) * tokens[:, None].astype(np.float32) for tokens in sequences]

        return forward


def test_a_race_takes_the_median_of_several_runs() -> None:
    device, cold = Device(), [5.0] * (RUNS // 2)
    sample = next(random_samples(ROW, 1_000))
    plain, graph = device.taking([*cold, 1.0]), device.taking([*cold, 0.25])
    assert race(plain, graph, sample, lambda: device.now) == (1.0, 0.25)


def test_the_worst_sample_counts() -> None:
    device, samples = Device(), list(random_samples(ROW, 1_000))
    right, off = device.taking([1.0]), device.taking([1.0], off=0.03)
    assert compare(right, right, samples) == 0.0
    for wrong in samples:
        found = compare(right, lambda sample, wrong=wrong: (off if sample is wrong else right)(sample), samples)  # type: ignore[misc]
        assert found == pytest.approx(0.03, rel=0.01)


def test_a_graph_that_is_wrong_the_second_time_is_found() -> None:
    device, samples = Device(), list(random_samples(ROW, 1_000))
    right = device.taking([1.0])
    answers = [right(sample) for sample in samples]

    def later_wrong(sequences: Sequence[TokenIds]) -> list[Logits]:
        return answers.pop(0) if answers else [np.zeros((len(tokens), 1), np.float32) for tokens in sequences]

    assert compare(right, later_wrong, samples) == pytest.approx(1.0)


def test_samples_are_random_ids_in_the_row_s_lengths() -> None:
    samples = list(random_samples(ROW, 50))
    assert [[len(tokens) for tokens in sample] for sample in samples] == ROW.samples()
    ids = np.concatenate([tokens for sample in samples for tokens in sample])
    assert (ids.min(), ids.max()) == (0, 49)
    assert ids.dtype == np.int32
