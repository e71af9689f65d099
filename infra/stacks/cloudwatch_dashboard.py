"""CloudWatch's dashboard of a fleet: the signals that scale it, with their thresholds as lines, tasks, and alarms.

The Grafana pages (`infra/dashboards`) show more; this one needs no Prometheus and is there after the first deployment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.scaling.oncall_alarms import PlatformMetric, Shortfall
from infra.scaling.policy import Policy
from infra.stacks.container import NAMESPACE
from service.signals.catalog import (
    BACKLOG_SECONDS,
    BULK_BACKLOG_SECONDS,
    BULK_TASKS_WANTED,
    GPU_UTILIZATION,
    QUEUE_DEPTH,
    REFUSALS,
    REQUEST_SECONDS,
    SERVER_ERRORS,
    SERVICE_DIMENSION,
    STAGES,
    WORK_RATIO,
    Signal,
)

WIDTH, HEIGHT = 8, 6
PER_ROW = 3
Metric = list[Any]
"""Namespace, name, dimensions one after the other, options."""


def dashboard(
    stack: Stack, fleet: str, policy: Policy, shortfall: Shortfall, alarms: Sequence[cloudwatch.CfnAlarm]
) -> cloudwatch.CfnDashboard:
    """The fleet's one dashboard, with the state of these alarms at its top."""
    states = {"type": "alarm", "width": WIDTH * PER_ROW, "height": 4, "x": 0, "y": 0}
    states["properties"] = {"title": "Alarms that call somebody", "alarms": [each.attr_arn for each in alarms]}
    body = {"widgets": [states, *_widgets(fleet, policy, shortfall, stack.region)]}
    return cloudwatch.CfnDashboard(stack, "Dashboard", dashboard_name=fleet, dashboard_body=stack.to_json_string(body))


def _widgets(fleet: str, policy: Policy, shortfall: Shortfall, region: str) -> list[dict[str, Any]]:
    targets = policy.targets

    def ours(signal: Signal, *statistics: str) -> list[Metric]:
        place = [NAMESPACE, signal.name, SERVICE_DIMENSION, fleet]
        return [[*place, {"stat": each, "label": f"{signal.name} {each}", "period": 60}] for each in statistics]

    stages = [metric for signal in (WORK_RATIO, *STAGES.values()) for metric in ours(signal, "Average")]
    gpu = {"saturated": targets.gpu_percent, **({"target": targets.gpu_target} if targets.gpu_target else {})}
    plots: tuple[tuple[str, list[Metric], Mapping[str, float]], ...] = (
        (
            "Work ratio by stage: the highest scales the fleet",
            stages,
            {
                "a step of more": targets.scale_out_work_ratio,
                "target": targets.work_ratio,
                "fewer below": targets.scale_in_work_ratio,
            },
        ),
        ("GPU utilization, %", ours(GPU_UTILIZATION, "Average", "Maximum"), gpu),
        (
            "Documents that wait on a task: the least scales",
            ours(QUEUE_DEPTH, "Minimum", "Maximum"),
            {"half as many more": targets.queue_depth},
        ),
        (
            "Seconds of work that wait on a task",
            ours(BACKLOG_SECONDS, "Minimum", "Maximum"),
            {"half as many more": targets.backlog_seconds, "twice as many": 3 * targets.backlog_seconds},
        ),
        (
            "Wanted and there",
            [_platform(shortfall.wanted), _platform(shortfall.present)],
            {"maximum": policy.limits.maximum_tasks, "minimum": policy.limits.minimum_tasks},
        ),
        (
            "Seconds of a request; documents refused, requests failed",
            [*ours(REQUEST_SECONDS, "p50", "p99"), *ours(REFUSALS, "Sum"), *ours(SERVER_ERRORS, "Sum")],
            {"promised for 99 %": targets.slo_seconds} if targets.slo_seconds else {},
        ),
    )
    if policy.bulk_tasks is not None:
        most = {"a deadline's most": float(policy.bulk_tasks)}
        plots += (
            ("Tasks that a bulk deadline wants", ours(BULK_TASKS_WANTED, "Average", "Maximum"), most),
            ("Seconds of one task that wait in the bulk queue", ours(BULK_BACKLOG_SECONDS, "Average"), {}),
        )
    return [
        {
            "type": "metric",
            "x": WIDTH * (number % PER_ROW),
            "y": 4 + HEIGHT * (number // PER_ROW),
            "width": WIDTH,
            "height": HEIGHT,
            "properties": {
                "title": title,
                "region": region,
                "view": "timeSeries",
                "metrics": metrics,
                "yAxis": {"left": {"min": 0}},
                "annotations": {"horizontal": [{"label": name, "value": value} for name, value in lines.items()]},
            },
        }
        for number, (title, metrics, lines) in enumerate(plots)
    ]


def _platform(metric: PlatformMetric) -> Metric:
    dimensions = [part for pair in metric.dimensions.items() for part in pair]
    return [metric.namespace, metric.name, *dimensions, {"stat": "Average", "period": 60}]
