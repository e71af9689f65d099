"""Throughput meter: an engine's capacity and the demand on it, from events with their times. Pure: time is passed in.

Capacity is stated for full batches, by a line through the batches that ran: seconds(tokens) = base + per_token ×
tokens, fitted by least squares. Tokens ÷ seconds of the batches that happened to run would underestimate it at light
load, since small batches pay the same base. The rules of the fit:
- Sizes are kept apart by powers of two, and each fades only by its own batches: what was learnt from large batches
  holds while only small ones run.
- One made-up batch of 0 tokens in 0 seconds counts among them. It decides while all batches are of one size, when
  throughput is just tokens ÷ seconds, and hardly counts once sizes differ: underestimating is the safe side.
- Neither base nor per_token is negative.
- A device is not linear in sizes that were never seen (a GPU takes the same time for 10 tokens and for 1,000), so the
  line is trusted up to `REACH` times the largest. So the first one, of a warm-up, holds the tokens of a full one
  divided by `REACH`.

The same is measured of each model alone: by the faster of the two a document is judged that would have the engine to
itself (`alone_tokens_per_second`). A warm-up is cold, a machine was busy, and documents refused by such an estimate
would never correct it. So:
- A batch before which its model rested, for at least as long as it took, and which was faster than the line says,
  replaces what was learnt of its size and smaller ones; larger sizes take no longer for each token than it did. Under
  load no model rests, and the mean counts alone.
- Throughput is at least that of the slowest model alone, with a reserve: what one batch has shown may be luck.
- While documents are refused as too long for an idle engine, one is measured every `SAMPLE_SECONDS` (`wants_sample`).

Arrivals are exponentially weighted (`DecayingSum`). Backlog seconds = (waiting + recently refused tokens) / tokens per
second; work ratio = arrived tokens per second / tokens per second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.core.admission.policy import RESERVE
from service.core.worker_load import DecayingSum

REMEMBERED = 32
"""Batches of each size in the exponentially weighted sums."""
REACH = 4
SAMPLE_SECONDS = 15.0
"""Least seconds between two samples of a model, each of which may take as long as a batch."""


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """A batch of at least one token, and its seconds on the device."""

    tokens: int
    seconds: float


@dataclass(slots=True)
class _Size:
    """Exponentially weighted sums over batches of similar size."""

    batches: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        keep = 1 - 1 / REMEMBERED
        self.batches = self.batches * keep + 1
        self.tokens = self.tokens * keep + tokens
        self.seconds = self.seconds * keep + seconds


def fit_line(groups: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Fit base in seconds and seconds per token by least squares; neither is negative.

    Args:
        groups: for batches of similar size their number, the sum of their tokens and the sum of their seconds.
    """
    count = sum(batches for batches, _, _ in groups)
    tokens, seconds = (sum(group[i] for group in groups) / count for i in (1, 2))
    if not tokens:
        return 0.0, 0.0
    spread = sum(t * t / n for n, t, _ in groups) - count * tokens**2
    together = sum(t * s / n for n, t, s in groups) - count * tokens * seconds
    per_token = min(max(together / spread, 0.0), seconds / tokens) if spread > 0 else seconds / tokens
    return max(seconds - per_token * tokens, 0.0), per_token


class BatchLatencyModel:
    """The latency model of one device."""

    def __init__(self) -> None:
        self._sizes: dict[int, _Size] = {}
        self._line: tuple[float, float] | None = None

    def add(self, tokens: int, seconds: float) -> None:
        """Learn from a batch of at least one token."""
        self._sizes.setdefault(tokens.bit_length(), _Size()).add(tokens, seconds)
        self._line = None

    def correct(self, tokens: int, seconds: float) -> None:
        """Forget what a batch of a rested device disproves, if it was faster than predicted."""
        predicted = self.seconds(tokens)
        if predicted is not None and predicted <= seconds:
            return
        larger = {bits: size for bits, size in self._sizes.items() if size.tokens > size.batches * tokens}
        for size in larger.values():
            size.seconds = min(size.seconds, size.tokens / tokens * seconds)
        self._sizes, self._line = larger, None

    def fit(self) -> tuple[float, float]:
        """Base in seconds, and seconds per token; zeros before the first batch."""
        if self._line is None:
            self._line = self._fitted()
        return self._line

    def seconds(self, tokens: float) -> float | None:
        """Predict a batch's seconds; None before the first batch and beyond the line's reach."""
        if not self._sizes or tokens > REACH * self._largest_tokens:
            return None
        base, per_token = self.fit()
        return base + per_token * tokens

    def tokens_per_second(self, full_tokens: int) -> float | None:
        """Throughput in batches of `full_tokens`; None before the first batch, and when `full_tokens` is 0."""
        if not self._sizes or not full_tokens:
            return None
        batch_tokens = min(full_tokens, REACH * self._largest_tokens)
        seconds = self.seconds(batch_tokens)
        return batch_tokens / seconds if seconds else None

    def _fitted(self) -> tuple[float, float]:
        sizes = ((size.batches, size.tokens, size.seconds) for size in self._sizes.values())
        return fit_line([(1.0, 0.0, 0.0), *sizes])

    @property
    def _largest_tokens(self) -> float:
        """Mean tokens of the batches of the largest size."""
        largest = self._sizes[max(self._sizes)]
        return largest.tokens / largest.batches


class ThroughputMeter:
    """Measured capacity and demand of one engine."""

    def __init__(self) -> None:
        self._arrived = DecayingSum()
        self._refused = DecayingSum()
        self._latency = BatchLatencyModel()
        self._speed: float | None = None
        self._models: dict[str, BatchLatencyModel] = {}
        self._speeds: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._sampled: dict[str, float] = {}
        self._busy_until = -math.inf
        self.busy_seconds = 0.0

    def arrived(self, tokens: int, now: float) -> None:
        self._arrived.add(tokens, now)

    def refused(self, tokens: int, now: float) -> None:
        """Count a document that was refused for want of capacity."""
        self._refused.add(tokens, now)

    def warmed(self, batch: TimedBatch, *, full_tokens: int, model: str = "") -> None:
        """Learn from a batch of the warm-up: the device's speed, without demand or busy time."""
        self._learn(batch, full_tokens, model)

    def computed(self, tokens: int, begun: float, ended: float, *, full_tokens: int, model: str = "") -> float:
        """Learn from a completed batch; returns its seconds of the device.

        Batches overlap: the time during which two ran at once is counted for the earlier one.

        Args:
            full_tokens: tokens of a full batch of this model now.
        """
        seconds = max(ended - max(begun, self._busy_until), 0.0)
        rested = begun - self._ended.get(model, -math.inf)
        if begun >= self._busy_until and 0 < seconds <= rested and model in self._models:
            self._models[model].correct(tokens, seconds)
        self._busy_until = max(ended, self._busy_until)
        self._ended[model] = ended
        self._learn(TimedBatch(tokens, seconds), full_tokens, model)
        self.busy_seconds += seconds
        return seconds

    @property
    def tokens_per_second(self) -> float | None:
        """Estimated throughput of full batches, from recent batch latencies; None before the first batch."""
        if self._speed is None or not self._speeds:
            return self._speed
        return max(self._speed, min(self._speeds.values()) / RESERVE)

    def alone_tokens_per_second(self, model: str) -> float | None:
        """Estimated throughput of an engine that has nothing but work of this model; None before its first batch."""
        own = self._speeds.get(model)
        return None if own is None else self._alone(own)

    def wants_sample(self, model: str, now: float) -> bool:
        """True, and noted, if the last sample of this model was long enough ago."""
        if now - self._sampled.get(model, -math.inf) < SAMPLE_SECONDS:
            return False
        self._sampled[model] = now
        return True

    def known_alone(self) -> dict[str, float]:
        """Collect `alone_tokens_per_second` of the models for which it is known."""
        return {model: self._alone(own) for model, own in self._speeds.items()}

    def _alone(self, own: float) -> float:
        return max(own, self._speed or 0.0)

    def keep(self, models: Iterable[str]) -> None:
        """Forget all models but these."""
        kept = set(models)
        for known in (self._models, self._speeds, self._ended, self._sampled):
            for model in known.keys() - kept:
                del known[model]

    def arrived_tokens_per_second(self, now: float) -> float:
        """Demand, including refused work."""
        return self._arrived.per_second(now)

    def work_ratio(self, now: float) -> float:
        """Demand ÷ capacity: above 1 the queue grows."""
        speed = self.tokens_per_second
        return self.arrived_tokens_per_second(now) / speed if speed else 0.0

    def backlog_seconds(self, waiting_tokens: float, now: float) -> float:
        """Seconds that the engine needs for the waiting and the recently refused tokens."""
        speed = self.tokens_per_second
        return (waiting_tokens + self._refused.value(now)) / speed if speed else 0.0

    def _learn(self, batch: TimedBatch, full_tokens: int, model: str) -> None:
        own = self._models.setdefault(model, BatchLatencyModel())
        for latency in (self._latency, own):
            latency.add(batch.tokens, batch.seconds)
        self._speed = self._latency.tokens_per_second(full_tokens)
        if (speed := own.tokens_per_second(full_tokens)) is not None:
            self._speeds[model] = speed
