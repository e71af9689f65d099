"""What the cloud would do: alarms and their steps → the wanted number of tasks. Pure; time and points are passed in.

The rules are those of CloudWatch and Application Auto Scaling:

    an alarm acts when it sounds, and once a minute for as long as it goes on
    any policy may scale out; of several the one that wants most wins
    inside a policy's cooldown, what it added last counts as not yet there: only what goes beyond is added
    scaling in waits for its own cooldown and for every other's

Target tracking is judged as AWS does it for ECS, on three periods of a minute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from infra.scaling.alarms import Alarm, Comparison, Condition, Series, State, Statistic, judge
from infra.scaling.policy import Policy
from infra.scaling.policy_values import TargetTracking
from service.signals.catalog import PERIOD_SECONDS

REPEAT_SECONDS = 60
TRACKING = "target-tracking"
TRACKING_PERIODS = 3
TRACKING_PERIOD_SECONDS = 60
POINTS_A_MINUTE = TRACKING_PERIOD_SECONDS // PERIOD_SECONDS


@dataclass(frozen=True, slots=True)
class Decision:
    """A change of the wanted number of tasks, by which alarm, at which value."""

    at_seconds: float
    by: str
    value: float
    tasks_before: int
    tasks_after: int


@dataclass(slots=True)
class _Record:
    """One policy's past."""

    state: State = State.OK
    acted_at: float = -math.inf
    changed_at: float = -math.inf
    added: int = 0

    def acts(self, state: State, now: float) -> bool:
        """Take note of the alarm's state; whether its action is invoked now."""
        begins = state is State.ALARM and self.state is not State.ALARM
        self.state = state
        if begins or (state is State.ALARM and now - self.acted_at >= REPEAT_SECONDS):
            self.acted_at = now
            return True
        return False


class Autoscaler:
    """The wanted number of tasks of one fleet."""

    def __init__(self, policy: Policy, wanted: int) -> None:
        self.policy = policy
        self.wanted = wanted
        names = [step.alarm.name for step in policy.steps]
        self._records = {name: _Record() for name in (*names, TRACKING)}

    def decide(self, series: Series, now: float) -> Decision | None:
        """Judge every alarm at `now`; change the wanted number if they ask for it."""
        asked = [self._step(i, series, now) for i in range(len(self.policy.scale_out))]
        asked.append(self._track(series, now))
        less = self._less(series, now)
        more = [ask for ask in asked if ask]
        if more:
            return self._settle(max(more, key=lambda ask: ask.tasks_after))
        return self._settle(less) if less else None

    @property
    def sounding(self) -> tuple[str, ...]:
        """The alarms that sounded when last judged."""
        return tuple(name for name, record in self._records.items() if record.state is State.ALARM)

    def _step(self, index: int, series: Series, now: float) -> Decision | None:
        step = self.policy.scale_out[index]
        value = self._invoked(step.alarm, series, now)
        if value is None:
            return None
        added = self._added_lately(step.alarm.name, step.cooldown_seconds, now)
        change = step.change(value, self.wanted - added) - added
        return self._decision(step.alarm.name, value, max(change, 0), now)

    def _track(self, series: Series, now: float) -> Decision | None:
        tracking = self.policy.tracking
        verdict = judge(tracking_alarm(tracking, self.wanted), series, now)
        if not self._records[TRACKING].acts(verdict.state, now) or verdict.value is None:
            return None
        work = verdict.value / POINTS_A_MINUTE
        change = math.ceil(round(work / tracking.target, 6)) - self.wanted
        return self._decision(TRACKING, work / self.wanted, max(change, 0), now)

    def _less(self, series: Series, now: float) -> Decision | None:
        step = self.policy.scale_in
        value = self._invoked(step.alarm, series, now)
        if value is None or not self._is_calm(now):
            return None
        return self._decision(step.alarm.name, value, step.change(value, self.wanted), now)

    def _invoked(self, alarm: Alarm, series: Series, now: float) -> float | None:
        """The alarm's value if its action is invoked now."""
        record = self._records[alarm.name]
        verdict = judge(alarm, series, now, record.state)
        return verdict.value if record.acts(verdict.state, now) else None

    def _added_lately(self, name: str, cooldown_seconds: float, now: float) -> int:
        record = self._records[name]
        return min(record.added, self.wanted) if now - record.changed_at < cooldown_seconds else 0

    def _is_calm(self, now: float) -> bool:
        cooldowns = {step.alarm.name: step.cooldown_seconds for step in self.policy.steps}
        cooldowns[TRACKING] = self.policy.tracking.cooldown_seconds
        return all(now - self._records[name].changed_at >= seconds for name, seconds in cooldowns.items())

    def _decision(self, by: str, value: float, change: int, now: float) -> Decision | None:
        limits = self.policy.limits
        after = min(max(self.wanted + change, limits.minimum_tasks), limits.maximum_tasks)
        return Decision(now, by, value, self.wanted, after) if after != self.wanted else None

    def _settle(self, decision: Decision) -> Decision:
        record = self._records[decision.by]
        lately = self._added_lately(decision.by, self._cooldown(decision.by), decision.at_seconds)
        record.added = max(lately + decision.tasks_after - decision.tasks_before, 0)
        record.changed_at = decision.at_seconds
        self.wanted = decision.tasks_after
        return decision

    def _cooldown(self, name: str) -> int:
        steps = {step.alarm.name: step.cooldown_seconds for step in self.policy.steps}
        return steps.get(name, self.policy.tracking.cooldown_seconds)


def tracking_alarm(tracking: TargetTracking, wanted: int) -> Alarm:
    """The alarm that AWS makes for scaling out by target tracking: three of three minutes above the target.

    Its value is the sum of a minute's points; as many make the target for so many wanted tasks.
    """
    threshold = tracking.target * wanted * POINTS_A_MINUTE
    return Alarm(
        name=TRACKING,
        conditions=(Condition(tracking.signal, Statistic.SUM, Comparison.ABOVE, threshold),),
        periods=TRACKING_PERIODS,
        period_seconds=TRACKING_PERIOD_SECONDS,
        meaning="Work per task is above its target.",
        remedy="Tasks are added in proportion.",
    )
