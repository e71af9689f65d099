"""Throughput meter: an engine's capacity and the demand on it, from events with their times. Pure: time is passed in.

Arrivals are exponentially weighted (`decaying_sum`). Tokens per second are the device's throughput in full batches
(`batch_latency`), whatever the demand at the moment.
Backlog seconds = (waiting + lately refused tokens) / tokens per second; work ratio = arrived tokens per second /
tokens per second.
"""

from __future__ import annotations

import math

from service.core.scheduling.batch_latency import BatchLatencyModel, TimedBatch
from service.core.worker_load import DecayingSum


class ThroughputMeter:
    """Measured capacity and demand of one engine."""

    def __init__(self) -> None:
        self._arrived = DecayingSum()
        self._refused = DecayingSum()
        self._latency = BatchLatencyModel()
        self._speed: float | None = None
        self._busy_until = -math.inf
        self.busy_seconds = 0.0

    def arrived(self, tokens: int, now: float) -> None:
        """Count a submitted document."""
        self._arrived.add(tokens, now)

    def refused(self, tokens: int, now: float) -> None:
        """Count a document that was refused for want of capacity."""
        self._refused.add(tokens, now)

    def warmed(self, batch: TimedBatch, *, full_tokens: int) -> None:
        """Learn from a batch of the warm-up: the device's speed, without demand or busy time."""
        self._learn(batch.tokens, batch.seconds, full_tokens)

    def computed(self, tokens: int, begun: float, ended: float, *, full_tokens: int) -> float:
        """Learn from a completed batch; returns the seconds of the device that it took.

        Batches overlap: the time that it ran beside an earlier one is counted for the earlier one.

        Args:
            full_tokens: tokens of a full batch at the moment.
        """
        seconds = max(ended - max(begun, self._busy_until), 0.0)
        self._busy_until = max(ended, self._busy_until)
        self._learn(tokens, seconds, full_tokens)
        self.busy_seconds += seconds
        return seconds

    @property
    def tokens_per_second(self) -> float | None:
        """Estimated throughput of full batches, from recent batch latencies; None before the first batch."""
        return self._speed

    def arrived_tokens_per_second(self, now: float) -> float:
        """Demand, refused work included."""
        return self._arrived.per_second(now)

    def work_ratio(self, now: float) -> float:
        """Demand ÷ capacity: above 1 the queue grows."""
        speed = self.tokens_per_second
        return self.arrived_tokens_per_second(now) / speed if speed else 0.0

    def backlog_seconds(self, waiting_tokens: float, now: float) -> float:
        """Seconds that the engine needs for the waiting and the lately refused tokens."""
        speed = self.tokens_per_second
        return (waiting_tokens + self._refused.value(now)) / speed if speed else 0.0

    def _learn(self, tokens: int, seconds: float, full_tokens: int) -> None:
        self._latency.add(tokens, seconds)
        self._speed = self._latency.tokens_per_second(full_tokens)
