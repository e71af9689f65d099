"""The search for a policy: target, step, band, patience, share removed, veto, pool and limit on waiting. Pure.

Coordinate descent: one value after the other is moved to where it is best, until nothing is better. Better is what
keeps the goal, then what is cheaper; below the goal, what keeps more. The size of a step is not searched: it follows
from the target, in proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from infra.scaling.policy_file import ChosenPolicy

ROUNDS = 3
WORTH = 0.005
"""Of the dollars: less is what seeds differ by, and no reason to change a policy."""
STEPS: dict[str, tuple[float, ...]] = {
    "work_ratio": (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85),
    "before_a_step": (0.8, 0.85, 0.9, 0.95),
    "scale_in_share": (0.5, 0.5714, 0.65, 0.7143, 0.7857, 0.8125, 0.85, 0.9),
    "quiet_seconds": (120, 300, 600, 900),
    "scale_in_percent": (5, 10, 20, 30),
    "gpu_veto": (True, False),
}
POOLS = (0, 2, 4, 8, 12, 20, 40)


@dataclass(frozen=True, slots=True)
class Score:
    """What a policy reached: means over the seeds."""

    kept: float
    dollars_per_million: float

    def is_better(self, than: Score, goal: float) -> bool:
        """By the rule above."""
        if min(self.kept, goal) != min(than.kept, goal):
            return self.kept > than.kept
        return self.dollars_per_million < than.dollars_per_million * (1 - WORTH)


@dataclass(frozen=True, slots=True)
class Tried:
    """A policy and its score."""

    policy: ChosenPolicy
    score: Score


Scorer = Callable[[Sequence[ChosenPolicy]], Iterable[Score]]
"""Scores several policies, side by side if it can."""


def search(start: ChosenPolicy, score: Scorer, goal: float, slo_ms: float) -> Iterator[Tried]:
    """The start, then each better policy; the last is the best that was found."""
    (first,) = score([start])
    best = Tried(start, first)
    yield best
    known = {start}
    for _ in range(ROUNDS):
        before = best
        for name in (*STEPS, "warm_pool", "max_queue_ms"):
            others = [each for each in moved(best.policy, name, slo_ms) if each not in known]
            known |= set(others)
            for policy, found in zip(others, score(others), strict=True):
                if found.is_better(best.score, goal):
                    best = Tried(policy, found)
                    yield best
        if best is before:
            return


def moved(policy: ChosenPolicy, name: str, slo_ms: float) -> Iterator[ChosenPolicy]:
    """The policy with other values of one field, as far as they can be; limits on waiting are shares of the SLO."""
    if name == "warm_pool":
        yield from (replace(policy, warm_pool=each) for each in POOLS)
    elif name == "max_queue_ms":
        yield from (replace(policy, max_queue_ms=round(slo_ms * each)) for each in (0.0, 0.5, 0.75, 1.0, 2.0))
    else:
        for value in STEPS[name]:
            try:
                yield replace(policy, tuning=replace(policy.tuning, **{name: value}))  # type: ignore[arg-type]
            except ValueError:
                continue
