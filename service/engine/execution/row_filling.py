"""Filler of packed rows: sequences behind the real ones that bring a row to one of a few sizes.

Pure. Packing keeps sequences apart, so no real sequence sees the filler.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from service.core.arrays import TokenIds

SMALLEST_STEP_TOKENS = 16
SIZES_PER_DOUBLING = 16


def round_up(tokens: int) -> int:
    """The smallest size that holds these tokens: multiples of 16 up to 512, above that 16 sizes in each doubling.

    From 256 tokens on, sizes are 3 to 6 % apart; there are 64 up to 2,048 tokens.
    """
    power_above = 1 << (tokens - 1).bit_length()
    step = max(SMALLEST_STEP_TOKENS, power_above // (2 * SIZES_PER_DOUBLING))
    return -(-tokens // step) * step


def filler_lengths(tokens: int, longest: int) -> list[int]:
    """Lengths of as few sequences as hold `tokens` together, none over `longest`."""
    whole, rest = divmod(tokens, longest)
    return [longest] * whole + [rest] * (rest > 0)


def fill(sequences: Sequence[TokenIds], tokens: int, longest: int) -> list[TokenIds]:
    """These sequences, and filler behind them up to `tokens` of a row."""
    missing = tokens - sum(len(sequence) for sequence in sequences)
    return [*sequences, *(np.zeros(length, dtype=np.int32) for length in filler_lengths(missing, longest))]
