"""Alarms on what only the balancer sees: too few tasks that answer, and tasks that answer with errors.

Where releases are moved between two target groups, either may be the empty one: both are asked, and added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_elasticloadbalancingv2 as elb
from constructs import Construct

from infra.environments import Environment
from infra.stacks.container import NAMESPACE
from service.signals.catalog import REFUSALS, SERVICE_DIMENSION

TOO_FEW, ERRORS = "too-few-healthy", "server-errors"
BALANCER = "AWS/ApplicationELB"
MOST_ERRORS = 0.01
"""Of the requests."""
_MINUTE = 60


def too_few_healthy(
    scope: Construct,
    environment: Environment,
    balancer: elb.ApplicationLoadBalancer,
    groups: list[elb.ApplicationTargetGroup],
    topic: str,
) -> cloudwatch.CfnAlarm:
    """Fewer healthy targets than the minimum for three minutes: the only trouble that the tasks cannot report."""
    names = {f"healthy{number}": group for number, group in enumerate(groups)}
    parts = [
        _part(
            name,
            BALANCER,
            "HealthyHostCount",
            {"LoadBalancer": balancer.load_balancer_full_name, "TargetGroup": group.target_group_full_name},
            "Minimum",
        )
        for name, group in names.items()
    ]
    healthy = f"SUM([{', '.join(names)}])"  # No point where none has one yet: a late minute is not an empty fleet.
    return _alarm(
        scope,
        "TooFewHealthy",
        topic,
        alarm_name=f"{environment.fleet}-{TOO_FEW}",
        alarm_description="Fewer tasks answer /readyz than the minimum. See the service's events.",
        metrics=[*parts, _whole("healthy", healthy)],
        comparison_operator="LessThanThreshold",
        threshold=environment.limits.minimum_tasks,
        treat_missing_data="breaching",
    )


def server_errors(
    scope: Construct, environment: Environment, balancer: elb.ApplicationLoadBalancer, topic: str
) -> cloudwatch.CfnAlarm:
    """More than one answer in a hundred is an error of ours, in two minutes of three.

    The balancer's own are those of connections that a task broke, or never took. A deadline that cannot be met, or a
    crowd, is answered with a 5xx as well, and is no error: what the service counts as refused is taken off. That is
    documents, a batch each of its own, so the alarm is all but deaf while batches are refused.
    """
    whole = {"LoadBalancer": balancer.load_balancer_full_name}
    parts = [
        _part("errors", BALANCER, "HTTPCode_Target_5XX_Count", whole, "Sum"),
        _part("broken", BALANCER, "HTTPCode_ELB_5XX_Count", whole, "Sum"),
        _part("refused", NAMESPACE, REFUSALS.name, {SERVICE_DIMENSION: environment.fleet}, "Sum"),
        _part("requests", BALANCER, "RequestCount", whole, "Sum"),
    ]
    share = "(FILL(errors, 0) + FILL(broken, 0) - FILL(refused, 0)) / requests"
    return _alarm(
        scope,
        "ServerErrors",
        topic,
        alarm_name=f"{environment.fleet}-{ERRORS}",
        alarm_description="More than 1 % of the answers are errors of ours (5xx). See the tasks' logs.",
        metrics=[*parts, _whole("share", share)],
        datapoints_to_alarm=2,
        comparison_operator="GreaterThanThreshold",
        threshold=MOST_ERRORS,
        treat_missing_data="notBreaching",
    )


def _alarm(scope: Construct, name: str, topic: str, **properties: Any) -> cloudwatch.CfnAlarm:
    """Both look at three minutes, and tell the topic what has come and gone."""
    told = [topic]
    return cloudwatch.CfnAlarm(scope, name, evaluation_periods=3, alarm_actions=told, ok_actions=told, **properties)


def _part(
    name: str, namespace: str, metric: str, dimensions: Mapping[str, str], statistic: str
) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    return cloudwatch.CfnAlarm.MetricDataQueryProperty(
        id=name,
        return_data=False,
        metric_stat=cloudwatch.CfnAlarm.MetricStatProperty(
            metric=cloudwatch.CfnAlarm.MetricProperty(
                namespace=namespace,
                metric_name=metric,
                dimensions=[
                    cloudwatch.CfnAlarm.DimensionProperty(name=key, value=value) for key, value in dimensions.items()
                ],
            ),
            period=_MINUTE,
            stat=statistic,
        ),
    )


def _whole(name: str, expression: str) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    return cloudwatch.CfnAlarm.MetricDataQueryProperty(id=name, expression=expression, label=name, return_data=True)
