"""Batch latency model: seconds(tokens) = base + per_token × tokens, and the throughput of full batches from it. Pure.

Tokens ÷ seconds of the batches that happened to run underestimates capacity at light load: small batches pay the same
base. So the line is fitted by least squares, and throughput is stated for a full batch. The rules:
- Sizes are kept apart by powers of two, and each fades only by its own batches: what was learnt from large batches
  holds while only small ones run.
- One made-up batch of 0 tokens in 0 seconds counts among them. It decides while all batches are of one size, when
  throughput is just tokens ÷ seconds, and hardly counts once sizes differ: underestimating is the safe side.
- Neither base nor per_token is negative.
- A device is not linear in sizes that were never seen (a GPU takes the same time for 10 tokens and for 1,000), so the
  line is trusted up to `REACH` times the largest. So the first one, of a warm-up, holds the tokens of a full one
  divided by `REACH`.
"""

from __future__ import annotations

from dataclasses import dataclass

REMEMBERED = 32
"""Batches of each size."""
REACH = 4


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """A batch of at least one token, and its seconds on the device."""

    tokens: int
    seconds: float


@dataclass(slots=True)
class _Size:
    """Exponentially weighted sums over the batches of about one size."""

    batches: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        keep = 1 - 1 / REMEMBERED
        self.batches = self.batches * keep + 1
        self.tokens = self.tokens * keep + tokens
        self.seconds = self.seconds * keep + seconds


class BatchLatencyModel:
    """The latency model of one device."""

    def __init__(self) -> None:
        self._sizes: dict[int, _Size] = {}
        self._line: tuple[float, float] | None = None

    def add(self, tokens: int, seconds: float) -> None:
        """Learn from a batch of at least one token."""
        self._sizes.setdefault(tokens.bit_length(), _Size()).add(tokens, seconds)
        self._line = None

    def fit(self) -> tuple[float, float]:
        """Base in seconds, and seconds per token; zeros before the first batch."""
        if self._line is None:
            self._line = self._fitted()
        return self._line

    def seconds(self, tokens: float) -> float | None:
        """Of a batch; None before the first one, and for one beyond the line's reach."""
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
        sizes = self._sizes.values()
        batches = 1 + sum(size.batches for size in sizes)
        tokens = sum(size.tokens for size in sizes) / batches
        seconds = sum(size.seconds for size in sizes) / batches
        spread = sum(size.tokens**2 / size.batches for size in sizes) - batches * tokens**2
        together = sum(size.tokens * size.seconds / size.batches for size in sizes) - batches * tokens * seconds
        if not tokens:
            return 0.0, 0.0
        per_token = min(max(together / spread, 0.0), seconds / tokens)
        return seconds - per_token * tokens, per_token

    @property
    def _largest_tokens(self) -> float:
        """The mean of the batches of the largest size."""
        largest = self._sizes[max(self._sizes)]
        return largest.tokens / largest.batches
