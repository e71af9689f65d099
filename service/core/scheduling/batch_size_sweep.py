"""Batch size sweep: the token budget of a device's batches, from timed batches of growing size. Pure.

A batch cannot be interrupted, so one that is larger than the device needs only makes others wait. The rules:
- Sizes are powers of two, the smallest first.
- The budget is the smallest size with at least `NEARLY` of the best throughput of all that take at most
  `LONGEST_SECONDS`. If the smallest takes longer, it is the budget.
- The budget holds at least `LONGEST_SEQUENCES` of the longest sequences, if that takes at most `LONGEST_SECONDS` too: a
  batch that has room for one and a half sequences runs with one.
- The sweep ends after a size that takes longer than `LONGEST_SECONDS`, and after `MOST_WITHOUT_GAIN` sizes in a row
  that gained hardly anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.core.scheduling.throughput import TimedBatch

SMALLEST_TOKENS = 64
NEARLY = 0.95
"""Share of the best throughput that the budget's size must have."""

LONGEST_SECONDS = 0.1
"""Most seconds of a batch of the budget's size: a document waits for two, and answers are due within a second."""

LONGEST_SEQUENCES = 4
"""Fewest of the longest sequences that the budget holds. With sequences of all lengths it is then nine tenths full."""

MOST_WITHOUT_GAIN = 3
"""Sizes in a row without gain: one may be slower by chance or badly tiled kernels, three doublings are not."""


def sizes_to_time(most_tokens: int) -> tuple[int, ...]:
    """List the sizes to run, `most_tokens` last."""
    below = (SMALLEST_TOKENS << power for power in range(most_tokens.bit_length()))
    return (*(tokens for tokens in below if tokens < most_tokens), most_tokens)


def is_over(timed: Sequence[TimedBatch], longest_tokens: int = 0) -> bool:
    """True when no larger batch than those timed so far can become the budget; arguments as for `choose`."""
    if not timed:
        return False
    rates = [_rate(batch) for batch in timed]
    fast = next(index for index, rate in enumerate(rates) if rate >= NEARLY * max(rates))
    gains_nothing = len(timed) - 1 - fast >= MOST_WITHOUT_GAIN
    is_roomy = timed[-1].tokens >= LONGEST_SEQUENCES * longest_tokens
    return timed[-1].seconds > LONGEST_SECONDS or (gains_nothing and is_roomy)


def choose(timed: Sequence[TimedBatch], longest_tokens: int = 0) -> TimedBatch:
    """Choose the budget among these batches: at least one, smallest first.

    Args:
        longest_tokens: most tokens of a sequence.
    """
    short = [batch for batch in timed if batch.seconds <= LONGEST_SECONDS] or list(timed[:1])
    enough = NEARLY * max(map(_rate, short))
    fast = next(batch for batch in short if _rate(batch) >= enough)
    roomy = next((batch for batch in short if batch.tokens >= LONGEST_SEQUENCES * longest_tokens), short[-1])
    return max(fast, roomy, key=lambda batch: batch.tokens)


def _rate(batch: TimedBatch) -> float:
    return batch.tokens / max(batch.seconds, 1e-9)
