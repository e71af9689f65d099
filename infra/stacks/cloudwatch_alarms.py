"""CloudWatch alarms from the policy's `Alarm`: one condition is a plain metric, several are one expression.

The expression is the first condition's metric where all others hold, and else a value that does not breach. So steps,
which are measured on the alarm's value, mean the same with further conditions as without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.scaling.alarm_values import Alarm, Comparison, Condition, Statistic
from infra.scaling.oncall_alarms import Shortfall
from infra.stacks.container import NAMESPACE
from service.signals.catalog import SERVICE_DIMENSION

_SYMBOLS = {Comparison.AT_LEAST: ">=", Comparison.ABOVE: ">", Comparison.AT_MOST: "<=", Comparison.BELOW: "<"}


def metric_query(
    name: str, namespace: str, metric: str, dimensions: Mapping[str, str], statistic: str, period_seconds: int = 60
) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    """One metric of an expression, under the name that the expression gives it."""
    asked = cloudwatch.CfnAlarm.MetricProperty(
        namespace=namespace,
        metric_name=metric,
        dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name=key, value=value) for key, value in dimensions.items()],
    )
    stat = cloudwatch.CfnAlarm.MetricStatProperty(metric=asked, period=period_seconds, stat=statistic)
    return cloudwatch.CfnAlarm.MetricDataQueryProperty(id=name, return_data=False, metric_stat=stat)


def result_query(name: str, expression: str, label: str = "") -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    """The expression whose value the alarm compares."""
    return cloudwatch.CfnAlarm.MetricDataQueryProperty(
        id=name, expression=expression, label=label or name, return_data=True
    )


def alarm(scope: Construct, fleet: str, wanted: Alarm, actions: list[str], notify: bool) -> cloudwatch.CfnAlarm:
    """The alarm with these actions, which `notify` also takes when the alarm ends."""
    first = wanted.conditions[0]
    plain = len(wanted.conditions) == 1 and first.per is None
    return _made(
        scope,
        fleet,
        wanted,
        comparison_operator=first.comparison.value,
        threshold=first.threshold,
        datapoints_to_alarm=wanted.datapoints_to_alarm,
        treat_missing_data=wanted.missing.value,
        alarm_actions=actions,
        ok_actions=actions if notify else None,
        **(_metric(fleet, wanted, first) if plain else _expression(fleet, wanted)),
    )


def shortfall_alarm(scope: Construct, fleet: str, wanted: Shortfall, actions: list[str]) -> cloudwatch.CfnAlarm:
    """The alarm on a difference of two metrics of AWS; it also notifies when it ends."""
    parts = [
        metric_query(name, metric.namespace, metric.name, metric.dimensions, "Average", wanted.period_seconds)
        for name, metric in (("wanted", wanted.wanted), ("present", wanted.present))
    ]
    return _made(
        scope,
        fleet,
        wanted,
        comparison_operator=Comparison.ABOVE.value,
        threshold=0,
        datapoints_to_alarm=wanted.periods,
        treat_missing_data=wanted.missing.value,
        alarm_actions=actions,
        ok_actions=actions,
        metrics=[*parts, result_query("missing", "wanted - present", wanted.name)],
    )


def _made(scope: Construct, fleet: str, wanted: Alarm | Shortfall, **properties: Any) -> cloudwatch.CfnAlarm:
    return cloudwatch.CfnAlarm(
        scope,
        "".join(part.title() for part in wanted.name.split("-")),
        alarm_name=f"{fleet}-{wanted.name}",
        alarm_description=f"{wanted.meaning} {wanted.remedy}",
        evaluation_periods=wanted.periods,
        **properties,
    )


def expression(conditions: tuple[Condition, ...]) -> str:
    """Metric math: the first metric where the other conditions hold, else a safe value.

    Metrics are m0, m1, …; of a condition `per` another signal the quotient, by that signal's n0, n1, …
    """
    terms = [f"m{i} / n{i}" if each.per is not None else f"m{i}" for i, each in enumerate(conditions)]
    if len(conditions) == 1:
        return terms[0]
    permission = " AND ".join(
        f"{term} {_SYMBOLS[each.comparison]} {each.threshold:g}"
        for term, each in zip(terms[1:], conditions[1:], strict=True)
    )
    return f"IF({permission}, {terms[0]}, {safe_value(conditions[0]):g})"


def safe_value(condition: Condition) -> float:
    """A value that does not breach the condition."""
    above = condition.comparison in (Comparison.ABOVE, Comparison.AT_LEAST)
    return condition.threshold - 1 if above else condition.threshold + 1


def _metric(fleet: str, wanted: Alarm, condition: Condition) -> dict[str, Any]:
    percentile = condition.statistic is Statistic.P99
    return {
        "namespace": NAMESPACE,
        "metric_name": condition.signal.name,
        "dimensions": [cloudwatch.CfnAlarm.DimensionProperty(name=SERVICE_DIMENSION, value=fleet)],
        "period": wanted.period_seconds,
        "extended_statistic" if percentile else "statistic": condition.statistic.value,
    }


def _expression(fleet: str, wanted: Alarm) -> dict[str, Any]:
    asked = {f"m{i}": (each.signal, each.statistic) for i, each in enumerate(wanted.conditions)}
    for i, each in enumerate(wanted.conditions):
        if each.per is not None:
            asked[f"n{i}"] = (each.per, each.per_statistic)
    parts = [
        metric_query(name, NAMESPACE, signal.name, {SERVICE_DIMENSION: fleet}, statistic.value, wanted.period_seconds)
        for name, (signal, statistic) in asked.items()
    ]
    return {"metrics": [*parts, result_query("value", expression(wanted.conditions), wanted.name)]}
