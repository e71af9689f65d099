"""The search over a made-up landscape: it finds what is cheapest among what keeps the goal, and tries nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest

from infra.scaling.policy_file import ChosenPolicy
from infra.scaling.policy_values import Tuning
from loadtest.simulator.tuning import Score, moved, search

START = ChosenPolicy(Tuning(), 2, 500)


def landscape(policies: Sequence[ChosenPolicy]) -> Iterable[Score]:
    """Emptier tasks and a larger pool keep more, full ones and a small pool cost less."""
    for policy in policies:
        kept = 1.0 - 0.02 * max(policy.tuning.work_ratio - 0.6, 0) - 0.002 * max(8 - policy.warm_pool, 0)
        yield Score(kept, 3.0 / policy.tuning.work_ratio + 0.02 * policy.warm_pool + 0.1 * policy.tuning.gpu_veto)


@pytest.mark.parametrize(("goal", "ratio", "pool"), [(0.999, 0.65, 8), (0.9955, 0.8, 8), (0.9, 0.8, 0)])
def test_the_cheapest_that_keeps_the_goal_is_found(goal: float, ratio: float, pool: int) -> None:
    *_, best = search(START, landscape, goal, 500.0)
    assert (best.policy.tuning.work_ratio, best.policy.warm_pool) == (ratio, pool)
    assert not best.policy.tuning.gpu_veto
    assert best.score.kept >= goal


def test_each_step_is_better_and_no_policy_is_tried_twice() -> None:
    seen: list[ChosenPolicy] = []

    def noted(policies: Sequence[ChosenPolicy]) -> Iterable[Score]:
        seen.extend(policies)
        return landscape(policies)

    path = list(search(START, noted, 0.999, 500.0))
    assert len(seen) == len(set(seen))
    assert all(later.score.is_better(sooner.score, 0.999) for sooner, later in pairwise(path))


def test_values_that_contradict_each_other_are_not_tried() -> None:
    low = ChosenPolicy(Tuning(work_ratio=0.85, before_a_step=0.9), 2, 500)
    assert {each.tuning.before_a_step for each in moved(low, "before_a_step", 500.0)} == {0.9, 0.95}
    assert [each.max_queue_ms for each in moved(low, "max_queue_ms", 500.0)] == [0, 250, 375, 500, 1000]
