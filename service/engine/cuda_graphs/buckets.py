"""Rows of a few fixed sizes that small batches are filled up to, so that one recording serves many batches.

Pure. Tokens that fill a row up are sequences of their own behind the real ones, so nothing real sees them; slots that
are left over are empty sequences. A batch goes to the smallest row that holds its tokens, or, where it has too many
sequences for that row's slots, to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from service.engine.execution.row_filling import filler_lengths

SIZES = (64, 128, 256, 512, 1_024, 2_048)
"""Tokens. Launching BERT-large's kernels takes as long as an H200 takes for a few thousand tokens (BENCHMARKS.md)."""

LEAST_SLOTS = 4
SLOT_TOKENS = 64
"""A slot for each so many tokens. Attention looks at every slot, also at empty ones."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A row of fixed size.

    Attributes:
        tokens: that it holds.
        above: most tokens of a batch that goes to the next smaller row.
        slots: sequences that it holds, those that fill it up included.
        longest: most tokens of one sequence.
    """

    tokens: int
    above: int
    slots: int
    longest: int

    def fits(self, lengths: Sequence[int]) -> bool:
        """Whether a batch of these sequences goes here."""
        if not self.above < sum(lengths) <= self.tokens or max(lengths) > self.longest:
            return False
        return len(lengths) + len(self.filling(lengths)) <= self.slots

    def filling(self, lengths: Sequence[int]) -> list[int]:
        """Lengths of the sequences that fill the row up behind these."""
        return filler_lengths(self.tokens - sum(lengths), self.longest)

    def samples(self) -> list[list[int]]:
        """Lengths of batches that show whether a recording is right: the emptiest, an uneven one, the fullest."""
        fewest = self.above + 1
        halfway = (self.above + self.tokens) // 2
        emptiest = filler_lengths(fewest, self.longest)
        uneven = [1, *filler_lengths(halfway - 1, self.longest)]
        return [emptiest, uneven, [self.tokens // self.slots] * self.slots]


def buckets(longest: int) -> tuple[Bucket, ...]:
    """The rows, small ones first, for a model whose sequences have at most `longest` tokens."""
    rows = (
        Bucket(tokens, above, max(LEAST_SLOTS, tokens // SLOT_TOKENS), min(tokens, longest))
        for above, tokens in pairwise((0, *SIZES))
    )
    return tuple(row for row in rows if all(map(row.fits, row.samples())))


def bucket_for(rows: Sequence[Bucket], lengths: Sequence[int]) -> Bucket | None:
    """Where a batch goes."""
    return next((row for row in rows if row.fits(lengths)), None)
