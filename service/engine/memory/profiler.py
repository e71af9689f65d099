"""Memory profiler: runs batches of several shapes on the device and fits a cost model to their peaks.

Chooses the shapes: few long sequences, many short ones, mixtures, small and large. Shapes are run in ascending
size: if the large ones run out of memory, the small ones have already been measured.
"""

from __future__ import annotations

import logging
import time
from functools import partial

from service.core.errors import ModelError
from service.core.memory.cost_model import MeasuredPeak, MemoryCostModel, fit
from service.core.types import Shape
from service.engine.execution.device_errors import is_out_of_memory
from service.engine.execution.encoder_wrappers import Encoder
from service.engine.memory.probe import MemoryProbe
from service.families.processor import Blank, zeros

SHORT_TOKENS, MEDIUM_TOKENS = 16, 128
PART = 4
"""Divisor of the most tokens for all shapes but the largest, so that the profile stays quick on a CPU."""

log = logging.getLogger(__name__)


def shapes(longest: int, most_tokens: int) -> list[list[int]]:
    """List the lengths of the batches to run, in ascending order of tokens, at most `most_tokens`."""
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


def measure_peaks(
    encoder: Encoder,
    probe: MemoryProbe,
    longest: int,
    most_tokens: int,
    blank: Blank = zeros,
) -> list[MeasuredPeak]:
    """Measure the peak of each shape that fits; for the compute thread, while nothing else runs.

    Raises:
        ModelError: not even the smallest batch fits.
    """
    measured = [_measured(encoder, probe, lengths, blank) for lengths in shapes(longest, most_tokens)]
    probe.release_cache()
    peaks = [peak for peak in measured if peak is not None]
    if not peaks:
        raise ModelError("the device's free memory does not hold the smallest batch of this model")
    return peaks


def profile_memory(
    encoder: Encoder, probe: MemoryProbe, longest: int, most_tokens: int, blank: Blank = zeros
) -> MemoryCostModel:
    """Fit the cost model of an encoder on its device to its peaks; `blank` makes its sequences."""
    begun = time.monotonic()
    points = measure_peaks(encoder, probe, longest, most_tokens, blank)
    cost_model = fit(points, probe.accuracy)
    seconds = round(time.monotonic() - begun, 3)
    log.info("memory measured", extra={"seconds": seconds, "error_ratio": round(cost_model.error_ratio, 3)})
    return cost_model


def _measured(encoder: Encoder, probe: MemoryProbe, lengths: list[int], blank: Blank) -> MeasuredPeak | None:
    """Run one batch and return its peak; None if memory ran out."""
    batch = [blank(length) for length in lengths]
    shape = Shape.of(lengths)
    try:
        return MeasuredPeak(shape, probe.peak_bytes(partial(encoder.forward, batch)))
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        log.warning("a batch does not fit", extra={"tokens": shape.tokens})
        return None
