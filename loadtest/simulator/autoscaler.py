"""A simulator of Auto Scaling: alarms and steps → the wanted number of tasks. Pure; time and points are passed in.

The rules are those of CloudWatch and Application Auto Scaling:

    an alarm acts when it enters ALARM, and once a minute while it stays there
    a step starts from the tasks that run, not from those that are wanted: while they start, the same shortage asks
    for the same number, however long a start takes
    inside a policy's cooldown, what it added last counts as not yet there, even where it runs already
    any policy may scale out, to more than is wanted already; of several the one that wants most wins
    scaling in waits for its own cooldown and for every other's

Target tracking is evaluated as AWS does it for ECS, on three periods of a minute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from infra.scaling.alarm_values import POINTS_A_MINUTE, Alarm, Comparison, Condition, Statistic
from infra.scaling.policy import Policy
from infra.scaling.policy_values import TargetTracking
from loadtest.simulator.alarm_evaluation import Series, State, evaluate
from service.signals.catalog import GPU_UTILIZATION

REPEAT_SECONDS = 60
TRACKING = "target-tracking"
GPU_TRACKING = "gpu-target"
TRACKING_PERIODS = 3
TRACKING_PERIOD_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Decision:
    """A change of the wanted number of tasks, by which alarm, at which value."""

    at_seconds: float
    by: str
    value: float
    tasks_before: int
    tasks_after: int

    @property
    def added(self) -> int:
        """Tasks added; negative for tasks removed."""
        return self.tasks_after - self.tasks_before


@dataclass(slots=True)
class _Record:
    """One policy's alarm state, last action and last change."""

    state: State = State.OK
    acted_at: float = -math.inf
    changed_at: float = -math.inf
    added: int = 0

    def acts(self, state: State, now: float) -> bool:
        """Record the alarm's state; True when its action is invoked now."""
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
        self._records = {name: _Record() for name in (*names, TRACKING, GPU_TRACKING)}

    def decide(self, series: Series, now: float, running: int) -> Decision | None:
        """Evaluate every alarm at `now`; change the wanted number if a policy asks for it.

        Args:
            running: tasks that run by now; those that still start are not among them.
        """
        asked = [self._step(i, series, now, running) for i in range(len(self.policy.scale_out))]
        asked += [self._track_target(series, now), self._track_gpu(series, now, running)]
        fewer = self._scale_in(series, now, running)
        more = [ask for ask in asked if ask]
        if more:
            return self._apply(max(more, key=lambda ask: ask.tasks_after))
        return self._apply(fewer) if fewer else None

    def set_minimum(self, fewest: int) -> bool:
        """A scheduled action: from now on there are no fewer; True if that changes what is wanted."""
        self.policy = replace(self.policy, limits=replace(self.policy.limits, minimum_tasks=fewest))
        below = self.wanted < fewest
        self.wanted = max(self.wanted, fewest)
        return below

    def _step(self, index: int, series: Series, now: float, running: int) -> Decision | None:
        step = self.policy.scale_out[index]
        value = self._invoked(step.alarm, series, now)
        if value is None:
            return None
        there = min(running, self.wanted - self._added_recently(step.alarm.name, step.cooldown_seconds, now))
        wanted = max(there + step.change(value, there), self.wanted)
        return self._decision(step.alarm.name, value, wanted, now)

    def _track_target(self, series: Series, now: float) -> Decision | None:
        tracking = self.policy.tracking
        evaluation = evaluate(tracking_alarm(tracking, self.wanted), series, now)
        if not self._records[TRACKING].acts(evaluation.state, now) or evaluation.value is None:
            return None
        work = evaluation.value / POINTS_A_MINUTE
        wanted = max(math.ceil(round(work / tracking.target, 6)), self.wanted)
        return self._decision(TRACKING, work / max(self.wanted, 1), wanted, now)

    def _track_gpu(self, series: Series, now: float, running: int) -> Decision | None:
        """Tasks in proportion to utilization over its target, from those that run."""
        target = self.policy.targets.gpu_target
        value = self._invoked(gpu_alarm(target), series, now) if target else None
        if value is None:
            return None
        there = min(running, self.wanted - self._added_recently(GPU_TRACKING, self._cooldown(GPU_TRACKING), now))
        return self._decision(GPU_TRACKING, value, max(math.ceil(there * value / target), self.wanted), now)

    def _scale_in(self, series: Series, now: float, running: int) -> Decision | None:
        step = self.policy.scale_in
        value = self._invoked(step.alarm, series, now)
        if value is None or not self._is_calm(now):
            return None
        wanted = min(running + step.change(value, running), self.wanted)
        return self._decision(step.alarm.name, value, wanted, now)

    def _invoked(self, alarm: Alarm, series: Series, now: float) -> float | None:
        """The alarm's value if its action is invoked now."""
        record = self._records[alarm.name]
        evaluation = evaluate(alarm, series, now)
        return evaluation.value if record.acts(evaluation.state, now) else None

    def _added_recently(self, name: str, cooldown_seconds: float, now: float) -> int:
        record = self._records[name]
        return min(record.added, self.wanted) if now - record.changed_at < cooldown_seconds else 0

    def _is_calm(self, now: float) -> bool:
        cooldowns = {step.alarm.name: step.cooldown_seconds for step in self.policy.steps}
        cooldowns[TRACKING] = cooldowns[GPU_TRACKING] = self.policy.tracking.cooldown_seconds
        return all(now - self._records[name].changed_at >= seconds for name, seconds in cooldowns.items())

    def _decision(self, by: str, value: float, wanted: int, now: float) -> Decision | None:
        limits = self.policy.limits
        after = min(max(wanted, limits.minimum_tasks), limits.maximum_tasks)
        return Decision(now, by, value, self.wanted, after) if after != self.wanted else None

    def _apply(self, decision: Decision) -> Decision:
        record = self._records[decision.by]
        recent = self._added_recently(decision.by, self._cooldown(decision.by), decision.at_seconds)
        record.added = max(recent + decision.tasks_after - decision.tasks_before, 0)
        record.changed_at = decision.at_seconds
        self.wanted = decision.tasks_after
        return decision

    def _cooldown(self, name: str) -> int:
        steps = {step.alarm.name: step.cooldown_seconds for step in self.policy.steps}
        return steps.get(name, self.policy.tracking.cooldown_seconds)


def gpu_alarm(target: float) -> Alarm:
    """The alarm that AWS makes for target tracking of GPU utilization: three of three minutes above the target."""
    return Alarm(
        name=GPU_TRACKING,
        conditions=(Condition(GPU_UTILIZATION, Statistic.AVERAGE, Comparison.ABOVE, target),),
        periods=TRACKING_PERIODS,
        period_seconds=TRACKING_PERIOD_SECONDS,
        meaning="GPU utilization is above its target.",
        remedy="Tasks are added in proportion.",
    )


def tracking_alarm(tracking: TargetTracking, wanted: int) -> Alarm:
    """The alarm that AWS makes for scaling out by target tracking: three of three minutes above the target.

    Its value is the sum of a minute's points of all tasks, and its threshold what the wanted tasks would add up to.
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
