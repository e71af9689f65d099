"""Scaling values that the fleets with and without ECS have in common: policy ids, step adjustments, tracked figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from infra.scaling.autoscaler import POINTS_A_MINUTE
from infra.scaling.policy import Policy
from infra.scaling.policy_values import StepScaling

Adjustment = TypeVar("Adjustment")


def step_id(scaling: StepScaling) -> str:
    """The construct id of a step policy, from its alarm's name."""
    return f"Step{''.join(part.title() for part in scaling.alarm.name.split('-'))}"


def step_adjustments(make: Callable[..., Adjustment], scaling: StepScaling) -> list[Adjustment]:
    """A policy's steps as CDK's values.

    Args:
        make: `StepAdjustmentProperty` of EC2's or of Application Auto Scaling's policy, which have equal fields.
    """
    return [
        make(
            metric_interval_lower_bound=step.lower,
            metric_interval_upper_bound=step.upper,
            scaling_adjustment=step.percent,
        )
        for step in scaling.steps
    ]


def work_per_task() -> str:
    """CloudWatch's expression for target tracking: a minute's work of all tasks over the tasks that are wanted."""
    return f"work / {POINTS_A_MINUTE} / wanted"


def requests_per_minute(policy: Policy) -> float:
    """One task's requests a minute at the target's share of its capacity, with one document a request."""
    return round(policy.capacity.full_documents_per_second * policy.targets.work_ratio * 60, 1)
