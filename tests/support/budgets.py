"""Memory budgets for tests: a fixed one of any model, and a model whose batches need no memory."""

from __future__ import annotations

from dataclasses import dataclass

from service.core.memory.budget import ModelMemory
from service.core.memory.cost_model import UNMEASURED
from service.core.types import Shape


@dataclass(frozen=True)
class FixedBudget:
    """The same budget for every model; bytes are not looked at."""

    tokens: int

    def budget_tokens(self, model: str) -> int:
        return self.tokens

    def admits(self, model: str, shape: Shape) -> bool:
        return shape.tokens <= self.tokens


def unmeasured(longest_tokens: int, most_tokens: int) -> ModelMemory:
    """What batches need where memory cannot be read."""
    return ModelMemory(UNMEASURED, longest_tokens, most_tokens)
