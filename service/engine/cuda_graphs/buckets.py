"""Rows of a few fixed sizes that small batches are filled up to, so that one captured graph serves many batches.

Pure. A row is filled up by sequences of their own behind the real ones; its unused slots are empty sequences. A batch
goes to the smallest row that holds its tokens, or to none if it has more sequences than that row has slots.
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
"""A row has one slot for this many tokens: few, since attention starts blocks for every slot, empty ones too."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A row of fixed size.

    Attributes:
        tokens: size of the row.
        above: batches of more tokens than this, and at most `tokens`, go here: the size of the next smaller row.
        slots: sequences in the row, filler included.
        longest: most tokens of one sequence.
    """

    tokens: int
    above: int
    slots: int
    longest: int

    def fits(self, lengths: Sequence[int]) -> bool:
        """True for a batch of the bucket's tokens whose sequences and filler have slots."""
        if not self.above < sum(lengths) <= self.tokens or max(lengths) > self.longest:
            return False
        return len(lengths) + len(self.filling(lengths)) <= self.slots

    def filling(self, lengths: Sequence[int]) -> list[int]:
        """Lengths of the sequences that fill the row up behind these."""
        return filler_lengths(self.tokens - sum(lengths), self.longest)

    def samples(self) -> list[list[int]]:
        """Lengths of three batches to check a graph with: the emptiest, one of unequal sequences, the fullest."""
        fewest = self.above + 1
        halfway = (self.above + self.tokens) // 2
        emptiest = filler_lengths(fewest, self.longest)
        unequal = [1, *filler_lengths(halfway - 1, self.longest)]
        return [emptiest, unequal, [self.tokens // self.slots] * self.slots]


def buckets(longest: int) -> tuple[Bucket, ...]:
    """The rows, small ones first, for a model whose sequences have at most `longest` tokens."""
    rows = (
        Bucket(tokens, above, max(LEAST_SLOTS, tokens // SLOT_TOKENS), min(tokens, longest))
        for above, tokens in pairwise((0, *SIZES))
    )
    return tuple(row for row in rows if all(map(row.fits, row.samples())))


def bucket_for(rows: Sequence[Bucket], lengths: Sequence[int]) -> Bucket | None:
    """The row that a batch of these lengths goes to; None if it fits none."""
    return next((row for row in rows if row.fits(lengths)), None)
