"""The bytes that a model's batches take, measured on the real device over several shapes.

Owns which shapes are run: few long sequences, many short ones, mixtures, small and large. Sizes rise, so that on a
device where the larger ones do not fit the smaller ones have been measured by then.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.core.memory.cost_model import MeasuredPeak, MemoryCostModel, fit
from service.core.types import Shape
from service.engine.execution.device_errors import is_out_of_memory
from service.engine.memory.probe import MemoryProbe

SHORT_TOKENS, MEDIUM_TOKENS = 16, 128
PART = 4
"""All shapes but the largest hold this part of the most tokens, so that measuring stays quick on a CPU."""

PATIENCE_SECONDS = 1.0
Clock = Callable[[], float]

log = logging.getLogger(__name__)


class Measurable(Protocol):
    """What is measured: an encoder as it will run."""

    def forward(self, sequences: Sequence[TokenIds]) -> object: ...


def shapes(longest: int, most_tokens: int) -> list[list[int]]:
    """Lengths of the batches to run, in rising order of tokens, none of more than `most_tokens`."""
    part = max(most_tokens // PART, longest)
    short, medium = min(SHORT_TOKENS, longest), min(MEDIUM_TOKENS, longest)
    mixed = [longest] * (part // (2 * longest)) + [short] * (part // (2 * short))
    batches = [
        [short],
        [medium],
        [longest],
        [short] * (part // short),
        mixed,
        [medium] * (part // medium),
        [longest] * (most_tokens // longest),
    ]
    distinct = {tuple(lengths): None for lengths in batches if 0 < sum(lengths) <= most_tokens}
    return sorted(map(list, distinct), key=sum)


def measure(
    model: Measurable, gauge: MemoryProbe, longest: int, most_tokens: int, clock: Clock = time.monotonic
) -> list[MeasuredPeak]:
    """The highest peak of each shape that fits; for the compute thread, while nothing else runs.

    All shapes are run once, and again while time is left: how far the threads of a batch overlap is a matter of luck.

    Raises:
        ModelError: not even the smallest batch fits.
    """
    end = clock() + PATIENCE_SECONDS
    peaks: dict[Shape, int] = {}
    batches = shapes(longest, most_tokens)
    while batches and (not peaks or clock() < end):
        batches = [lengths for lengths in batches if _measure_one(model, gauge, lengths, peaks)]
    gauge.give_back()
    if not peaks:
        raise ModelError("the device's free memory does not hold the smallest batch of this model")
    return [MeasuredPeak(shape, peak) for shape, peak in peaks.items()]


def calibrate(model: Measurable, gauge: MemoryProbe, longest: int, most_tokens: int) -> MemoryCostModel:
    """The model's memory function on this device."""
    begun = time.monotonic()
    points = measure(model, gauge, longest, most_tokens)
    function = fit(points, gauge.gauged)
    seconds = round(time.monotonic() - begun, 3)
    log.info("memory measured", extra={"seconds": seconds, "error_ratio": round(function.error_ratio, 3)})
    return function


def _measure_one(model: Measurable, gauge: MemoryProbe, lengths: list[int], peaks: dict[Shape, int]) -> bool:
    """Whether the batch fits."""
    batch = [np.zeros(length, dtype=np.int32) for length in lengths]
    shape = Shape.of(lengths)
    try:
        peak = gauge.peak_bytes(partial(model.forward, batch))
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        log.warning("a batch does not fit", extra={"tokens": shape.tokens})
        return False
    peaks[shape] = max(peak, peaks.get(shape, 0))
    return True
