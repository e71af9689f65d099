"""Alarms on what AWS itself measures, as data: what is wanted and not there. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MINUTE = 60


@dataclass(frozen=True, slots=True)
class PlatformMetric:
    """One metric of an AWS service."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """An alarm while `wanted` is above `present`; it also sounds where neither is published.

    Attributes:
        periods: minutes in a row. A cold start takes six, and is no trouble.
    """

    name: str
    wanted: PlatformMetric
    present: PlatformMetric
    periods: int = 10
    period_seconds: int = MINUTE
    meaning: str
    remedy: str

    @property
    def expression(self) -> str:
        """CloudWatch's metric mathematics; the metrics are `wanted` and `present`."""
        return "wanted - present"


def tasks_missing(cluster: str, service: str) -> Shortfall:
    """Tasks that ECS cannot start."""
    of = {"ClusterName": cluster, "ServiceName": service}
    return Shortfall(
        name="tasks-missing",
        wanted=PlatformMetric("ECS/ContainerInsights", "DesiredTaskCount", of),
        present=PlatformMetric("ECS/ContainerInsights", "RunningTaskCount", of),
        meaning="For ten minutes fewer tasks run than are wanted: longer than a cold start takes.",
        remedy="No instance? The group's activity history says why: no capacity of the types in these zones (name more "
        "types or zones), or the quota. Instances but no tasks? The service's events, then the logs under `boot/`.",
    )


def instances_missing(group: str) -> Shortfall:
    """Instances that the group cannot launch."""
    of = {"AutoScalingGroupName": group}
    return Shortfall(
        name="instances-missing",
        wanted=PlatformMetric("AWS/AutoScaling", "GroupDesiredCapacity", of),
        present=PlatformMetric("AWS/AutoScaling", "GroupInServiceInstances", of),
        meaning="For ten minutes fewer instances are in service than are wanted: longer than a cold start takes.",
        remedy="The group's activity history says why: no capacity of the types in these zones (name more types or "
        "zones), or the quota. Launched and given up? The logs under `boot/`.",
    )
