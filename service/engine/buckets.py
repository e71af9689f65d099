"""Rows of a few fixed sizes that small batches are filled up to, so that one recording serves many batches.

Pure. Tokens that fill a row up are sequences of their own behind the real ones, so nothing real sees them; slots that
are left over are empty sequences. A batch goes to the smallest row that holds its tokens, or, where it has too many
sequences for that row's slots, to none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat

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

    def borders(self, lengths: Sequence[int]) -> tuple[int, ...] | None:
        """Cumulative lengths of all slots, [slots + 1]; None if these sequences do not fit."""
        stops = list(accumulate(lengths))
        if stops[-1] > self.tokens or max(lengths) > self.longest:
            return None
        stops += _pieces(self.tokens, self.longest, start=stops[-1])
        if len(stops) > self.slots:
            return None
        return (0, *stops, *repeat(self.tokens, self.slots - len(stops)))

    def filling(self, lengths: Sequence[int]) -> list[int]:
        """Lengths of the sequences that fill the row up behind these."""
        return _lengths(self.tokens - sum(lengths), self.longest)

    def samples(self) -> list[list[int]]:
        """Lengths of batches that show whether a recording is right: the emptiest, an uneven one, the fullest."""
        fewest = self.above + 1
        halfway = (self.above + self.tokens) // 2
        emptiest = _lengths(fewest, self.longest)
        uneven = [1, *_lengths(halfway - 1, self.longest)]
        return [emptiest, uneven, [self.tokens // self.slots] * self.slots]


def buckets(longest: int) -> tuple[Bucket, ...]:
    """The rows, small ones first, for a model whose sequences have at most `longest` tokens."""
    rows = (
        Bucket(tokens, above, max(LEAST_SLOTS, tokens // SLOT_TOKENS), min(tokens, longest))
        for above, tokens in pairwise((0, *SIZES))
    )
    return tuple(row for row in rows if all(row.borders(lengths) for lengths in row.samples()))


def bucket_for(rows: Sequence[Bucket], lengths: Sequence[int]) -> Bucket | None:
    """Where a batch goes."""
    tokens = sum(lengths)
    row = next((row for row in rows if row.above < tokens <= row.tokens), None)
    return row if row is not None and row.borders(lengths) else None


def _lengths(tokens: int, longest: int) -> list[int]:
    """As few sequences as hold so many tokens."""
    return [stop - start for start, stop in pairwise((0, *_pieces(tokens, longest, start=0)))]


def _pieces(tokens: int, longest: int, *, start: int) -> Iterator[int]:
    """Ends of sequences from `start` on, until there are so many tokens."""
    while start < tokens:
        start = min(tokens, start + longest)
        yield start
