"""How long the device takes for a batch, S(tokens) = base + per_token × tokens, and so what it does at its best. Pure.

Tokens over seconds of the batches that happened to run is too low at light load: small batches pay the same base. So
the line is fitted by least squares, and the speed is stated for a full batch, as it would be at full load. The rules:
- Sizes are remembered apart, by powers of two, and each forgets only by its own batches: what was learnt from large
  batches holds while only small ones run.
- Among them counts one made-up batch of nothing that took no time. It decides while all are of one size, when the
  speed is just tokens over seconds, and hardly counts once sizes differ: too slow is the safe side to err on.
- Neither base nor per_token is below zero.
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
    """So many tokens, at least one, took so long on the device."""

    tokens: int
    seconds: float


@dataclass(slots=True)
class _Size:
    """Fading sums over the batches of about one size."""

    batches: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        keep = 1 - 1 / REMEMBERED
        self.batches = self.batches * keep + 1
        self.tokens = self.tokens * keep + tokens
        self.seconds = self.seconds * keep + seconds


class BatchLatencyModel:
    """The law of one device, as far as its batches have shown it."""

    def __init__(self) -> None:
        self._sizes: dict[int, _Size] = {}

    def add(self, tokens: int, seconds: float) -> None:
        """A batch of so many tokens, at least one, took so long."""
        self._sizes.setdefault(tokens.bit_length(), _Size()).add(tokens, seconds)

    def law(self) -> tuple[float, float]:
        """Base in seconds, and seconds per token; zeros before the first batch."""
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

    def tokens_per_second(self, full_tokens: int) -> float | None:
        """The speed in batches of so many tokens; None before the first, and where there is room for none."""
        if not self._sizes or not full_tokens:
            return None
        largest = self._sizes[max(self._sizes)]
        batch_tokens = min(full_tokens, REACH * largest.tokens / largest.batches)
        base, per_token = self.law()
        seconds = base + per_token * batch_tokens
        return batch_tokens / seconds if seconds else None
