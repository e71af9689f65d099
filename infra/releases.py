"""How a release takes over: task by task, or with a second set of tasks to which the requests are moved in parts. Pure.

Moving requests means that as many tasks again run for as long as that takes, each with a GPU of its own. In return the
release is seen on a share of the requests first, and the way back is as short as a change of two weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

LEAST_PERCENT = 3.0
"""Of the requests: an alarm on their slowest hundredth does not see a smaller share, and ECS takes no smaller step."""
SOONEST_MINUTES = 5
"""What the slowest of the alarms that roll back looks at."""
LONGEST_MINUTES = 45
"""No tasks are removed meanwhile; and the AWS CLI waits an hour for a stack, of which the tasks' start takes some."""


class BadRelease(ValueError):
    """The parts of a release contradict each other, or its alarms."""


class Strategy(StrEnum):
    """ECS's names."""

    ROLLING = "ROLLING"
    CANARY = "CANARY"
    """A share of the requests, then all others at once."""
    LINEAR = "LINEAR"
    """One share after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A strategy with its figures, which a rolling one has not.

    Attributes:
        percent: of the requests, at first (canary) or in every step (linear).
        step_minutes: what it is watched for before the next share goes over.
        bake_minutes: how long the tasks before stay when all requests have gone over.

    Raises:
        BadRelease: a share that no alarm sees, or times that are too short or too long to be watched.
    """

    strategy: Strategy = Strategy.ROLLING
    percent: float = 10.0
    step_minutes: int = 10
    bake_minutes: int = 10

    def __post_init__(self) -> None:
        if not self.gradual:
            return
        if not LEAST_PERCENT <= self.percent <= 50:
            raise BadRelease(f"a share is {LEAST_PERCENT:g} to 50 percent of the requests, not {self.percent:g}")
        if min(self.step_minutes, self.bake_minutes) < SOONEST_MINUTES:
            raise BadRelease(f"the alarms that roll a release back need {SOONEST_MINUTES} minutes to see it")
        if self.minutes > LONGEST_MINUTES:
            raise BadRelease(f"a release is moved to within {LONGEST_MINUTES} minutes, not {self.minutes}")

    @property
    def gradual(self) -> bool:
        """Whether requests are moved, between two sets of tasks."""
        return self.strategy is not Strategy.ROLLING

    @property
    def minutes(self) -> int:
        """From the first share to the end of the tasks before; 0 where nothing is moved."""
        if not self.gradual:
            return 0
        steps = 1 if self.strategy is Strategy.CANARY else math.ceil(100 / self.percent) - 1
        return steps * self.step_minutes + self.bake_minutes

    @property
    def most_tasks(self) -> float:
        """Tasks while it is rolled out, over those before."""
        return 2.0 if self.gradual else 1.5


ROLLING = Release()
CANARY = Release(strategy=Strategy.CANARY, percent=10.0)
LINEAR = Release(strategy=Strategy.LINEAR, percent=25.0)
