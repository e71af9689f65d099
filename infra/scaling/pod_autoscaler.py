"""Kubernetes' horizontal pod autoscaler under the chart's ScaledObject. Pure; time and points are passed in.

    pods wanted by a metric   = ceil(its total ÷ what one pod should have), or as many as there are, if that is within
                                a tenth; of several metrics the one that wants most wins
    fewer, stabilized         only what every evaluation of the last `quiet_seconds` would have taken too
    more and fewer, limited   by a share of the pods of a period's beginning, and so many at least

Formulas: kubernetes.io, "Horizontal Pod Autoscaling", and Kubernetes' `pkg/controller/podautoscaler`
(`GetExternalPerPodMetricReplicas`, `calculateScaleUpLimitWithScalingRules` and its counterpart). KEDA asks Prometheus
for the last half minute, of the GPU for the last minute; a metric that is not there is 0.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from infra.scaling.alarm_evaluation import Comparison, Condition, Series, Statistic
from infra.scaling.autoscaler import Decision
from infra.scaling.policy import Policy
from infra.scaling.policy_values import Limits
from service.signals.catalog import (
    BACKLOG_SECONDS,
    BULK_TASKS_WANTED,
    GPU_UTILIZATION,
    OLDEST_AGE_SECONDS,
    PERIOD_SECONDS,
    QUEUE_DEPTH,
    WORK_RATIO,
    Signal,
)

SYNC_SECONDS = 15
TOLERANCE = 0.1
MOST_MORE_PERCENT = 900
MORE_PERIOD_SECONDS = 15
"""As the chart's `scaleUp` has it."""
LOOK_BACK_SECONDS, GPU_LOOK_BACK_SECONDS = 30.0, 60.0
QUEUE_SHARE, GPU_SHARE = 1.5, 1.25
"""Pods wanted, of those that are there, while the condition on queue depth or on the GPU holds; as in the chart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPolicy:
    """A policy in the terms of `infra/helm/gleaner/templates/scaledobject.yaml`.

    Attributes:
        work_ratio, backlog_seconds: what one pod should have.
        queue_depth: above it on every pod there should be half as many again.
        gpu_percent, oldest_seconds: at that utilization, with documents older than that everywhere, a quarter more.
        bulk: whether a bulk job's deadline asks for pods.
        quiet_seconds: `scaleDown.stabilizationWindowSeconds`.
        fewer_percent, fewer_period_seconds: the share of the pods that may go in a period; one pod always may.
    """

    work_ratio: float
    backlog_seconds: float
    queue_depth: float = math.inf
    gpu_percent: float = math.inf
    oldest_seconds: float = 0.0
    bulk: bool = False
    quiet_seconds: float
    fewer_percent: int
    fewer_period_seconds: float


def pod_policy(policy: Policy) -> PodPolicy:
    """The same policy object gives the chart's thresholds."""
    scale_in = policy.scale_in
    return PodPolicy(
        work_ratio=policy.targets.work_ratio,
        backlog_seconds=policy.targets.backlog_seconds,
        queue_depth=policy.targets.queue_depth,
        gpu_percent=policy.targets.gpu_percent if policy.bulk_tasks is None else math.inf,
        bulk=bool(policy.bulk_tasks),
        oldest_seconds=policy.targets.backlog_seconds / 2,
        quiet_seconds=scale_in.alarm.seconds_to_alarm,
        fewer_percent=-scale_in.steps[0].percent,
        fewer_period_seconds=scale_in.cooldown_seconds,
    )


def pods_wanted(total: float, target: float, pods: int) -> int:
    """For a metric of type AverageValue: `total` over all pods, `target` for one."""
    if pods and abs(1 - total / (target * pods)) <= TOLERANCE:
        return pods
    return math.ceil(round(total / target, 9))


class PodAutoscaler:
    """The wanted number of pods of one Deployment.

    Attributes:
        wanted: that number.
    """

    def __init__(self, policy: PodPolicy, limits: Limits, wanted: int) -> None:
        self._policy, self._fewest, self._most = policy, limits.minimum_tasks, limits.maximum_tasks
        self.wanted = wanted
        self._recommended: deque[tuple[float, int]] = deque()
        self._changes: deque[tuple[float, int]] = deque()
        self._synced = -math.inf

    def set_minimum(self, fewest: int) -> bool:
        """From now on there are no fewer; True if that changes what is wanted."""
        self._fewest = fewest
        below = self.wanted < fewest
        self.wanted = max(self.wanted, fewest)
        return below

    def decide(self, series: Series, now: float, running: int) -> Decision | None:
        """Synchronize, if it is time; `running` is not looked at: Kubernetes counts the pods that are asked for."""
        if now // SYNC_SECONDS == self._synced // SYNC_SECONDS:
            return None
        self._synced = now
        asked = self._asked(series, now)
        by = max(asked, key=lambda name: pods_wanted(*asked[name], self.wanted))
        total, target = asked[by]
        after = self._limited(self._stabilized(pods_wanted(total, target, self.wanted), now), now)
        if after == self.wanted:
            return None
        decision = Decision(now, by, total / max(self.wanted, 1), self.wanted, after)
        self._changes.append((now, after - self.wanted))
        self.wanted = after
        return decision

    def _asked(self, series: Series, now: float) -> dict[str, tuple[float, float]]:
        """Each trigger's total, and what one pod should have of it."""
        policy = self._policy

        def last(signal: Signal, statistic: Statistic, seconds: float = LOOK_BACK_SECONDS) -> float:
            condition = Condition(signal, statistic, Comparison.ABOVE, 0.0)
            return series.statistic(condition, now - seconds, now) or 0.0

        rounds = LOOK_BACK_SECONDS / PERIOD_SECONDS
        pods = last(WORK_RATIO, Statistic.SAMPLE_COUNT) / rounds
        deep = last(QUEUE_DEPTH, Statistic.MINIMUM) > policy.queue_depth
        saturated = last(GPU_UTILIZATION, Statistic.AVERAGE, GPU_LOOK_BACK_SECONDS) >= policy.gpu_percent
        waits = last(OLDEST_AGE_SECONDS, Statistic.MINIMUM, GPU_LOOK_BACK_SECONDS) > policy.oldest_seconds
        wanted = last(BULK_TASKS_WANTED, Statistic.AVERAGE) if policy.bulk else 0.0
        return {
            "hpa-work-ratio": (last(WORK_RATIO, Statistic.SUM) / rounds, policy.work_ratio),
            "hpa-backlog": (last(BACKLOG_SECONDS, Statistic.MINIMUM) * pods, policy.backlog_seconds),
            "hpa-queue-depth": (deep * pods * QUEUE_SHARE, 1.0),
            "hpa-gpu-saturated": ((saturated and waits) * pods * GPU_SHARE, 1.0),
            "hpa-bulk": (wanted, 1.0),
        }

    def _stabilized(self, pods: int, now: float) -> int:
        """The most that was recommended within the window, but no more than there are."""
        self._recommended.append((now, pods))
        while self._recommended[0][0] <= now - self._policy.quiet_seconds:
            self._recommended.popleft()
        highest = max(each for _, each in self._recommended)
        return max(pods, min(highest, self.wanted))

    def _limited(self, pods: int, now: float) -> int:
        """Within the rates of the chart's behaviour, and the limits."""
        policy = self._policy
        longest = max(MORE_PERIOD_SECONDS, policy.fewer_period_seconds)
        while self._changes and self._changes[0][0] <= now - longest:
            self._changes.popleft()
        before = self.wanted - self._changed(now - MORE_PERIOD_SECONDS, 1)
        most = math.ceil(before * (1 + MOST_MORE_PERCENT / 100))
        before = self.wanted - self._changed(now - policy.fewer_period_seconds, -1)
        fewest = min(math.trunc(before * (1 - policy.fewer_percent / 100)), before - 1)
        bounded = min(max(pods, min(fewest, self.wanted)), max(most, self.wanted))
        return min(max(bounded, self._fewest), self._most)

    def _changed(self, after: float, sign: int) -> int:
        return sum(change for at, change in self._changes if at > after and change * sign > 0)
