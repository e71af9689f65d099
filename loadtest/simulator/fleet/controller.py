"""Who decides how many tasks there are: AWS's alarms and steps, or Kubernetes' horizontal pod autoscaler."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from infra.scaling.alarm_evaluation import Series
from infra.scaling.autoscaler import Autoscaler, Decision
from infra.scaling.pod_autoscaler import PodAutoscaler, pod_policy
from infra.scaling.policy import Policy


class Controller(Protocol):
    """`wanted`: the tasks that there should be."""

    wanted: int

    def decide(self, series: Series, now: float, running: int) -> Decision | None:
        """What is published is read; the wanted number may change."""

    def set_minimum(self, fewest: int) -> bool:
        """From now on there are no fewer; True if that changes what is wanted."""


class Scaling(StrEnum):
    """The controllers by name."""

    ALARMS = "alarms"
    HPA = "hpa"


def controller_of(scaling: Scaling, policy: Policy) -> Controller:
    """The controller with this policy, or with what Helm's chart makes of it; it begins at the minimum."""
    fewest = policy.limits.minimum_tasks
    if scaling is Scaling.HPA:
        return PodAutoscaler(pod_policy(policy), policy.limits, fewest)
    return Autoscaler(policy, fewest)
