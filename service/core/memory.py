"""How many tokens one batch may hold, as a function of measured memory. Pure; whoever measures passes the points in.

This first model is a fixed budget: bytes are not looked at. The guard that fits bytes(total tokens, longest sequence,
sequences) to measurements fills the same two methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class MemoryModel(Protocol):
    """What the engine asks before it launches."""

    def budget_tokens(self) -> int:
        """Most tokens that a batch may hold now."""

    def smallest_budget_tokens(self) -> int:
        """What the budget never shrinks below; a longer sequence is refused at the door."""


@dataclass(frozen=True, slots=True)
class FixedBudget:
    """The same budget whatever happens, and never less than one longest sequence."""

    tokens: int
    longest_sequence_tokens: int

    def budget_tokens(self) -> int:
        return max(self.tokens, self.longest_sequence_tokens)

    def smallest_budget_tokens(self) -> int:
        return self.budget_tokens()
