"""The fixed budget behind the guard's interface."""

from __future__ import annotations

from service.core.memory import FixedBudget


def test_a_budget_never_falls_below_one_longest_sequence() -> None:
    assert FixedBudget(100, 512).budget_tokens() == 512
    assert FixedBudget(2048, 512).budget_tokens() == 2048
    assert FixedBudget(2048, 512).smallest_budget_tokens() == 2048
