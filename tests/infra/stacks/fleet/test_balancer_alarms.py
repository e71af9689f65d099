"""Alarms of the balancer: what they add up and take off, as CloudWatch would compute it."""

from __future__ import annotations

from typing import Any

import pytest

from infra.environments import Environment
from infra.stacks.fleet.balancer_alarms import MOST_ERRORS
from tests.support.fleets import EACH, Read, alarms, fleet
from tests.support.templates import resources


def total(points: list[float | None]) -> float | None:
    """CloudWatch's SUM of several metrics: of those that have a point."""
    found = [each for each in points if each is not None]
    return sum(found) if found else None


def computed(alarm: dict[str, Any], **points: float | None) -> float | None:
    """Its expression with these points; None for a metric, or a result, without one in the minute."""
    (whole,) = [each for each in alarm["Metrics"] if each.get("ReturnData")]
    assert {each["Id"] for each in alarm["Metrics"]} - {whole["Id"]} == set(points)
    functions = {"SUM": total, "FILL": lambda point, instead: instead if point is None else point}
    found: float | None = eval(whole["Expression"], {"__builtins__": {}}, {**functions, **points})
    return found


@EACH
def test_healthy_tasks_are_counted_wherever_they_are(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    alarm = alarms(made)[f"{environment.fleet}-too-few-healthy"]
    groups = len(resources(made, "AWS::ElasticLoadBalancingV2::TargetGroup"))
    assert groups == (2 if environment.release.gradual else 1)
    if groups == 2:
        assert computed(alarm, healthy0=4.0, healthy1=None) == computed(alarm, healthy0=None, healthy1=4.0) == 4
        assert computed(alarm, healthy0=None, healthy1=None) is None, "a minute that is late is not an empty fleet"
    else:
        assert computed(alarm, healthy0=4.0) == 4
        assert computed(alarm, healthy0=None) is None
    assert alarm["Threshold"] == environment.limits.minimum_tasks
    assert alarm["TreatMissingData"] == "breaching"


@EACH
@pytest.mark.parametrize(
    ("errors", "broken", "refused", "alarming"),
    [
        (None, None, None, False),
        (10.0, None, None, False),
        (11.0, None, None, True),
        (None, 11.0, None, True),
        (500.0, None, 500.0, False),
        (None, None, 500.0, False),
    ],
)
def test_errors_are_counted_and_deadlines_that_nobody_could_keep_are_not(
    template: Read,
    environment: Environment,
    errors: float | None,
    broken: float | None,
    refused: float | None,
    alarming: bool,
) -> None:
    alarm = alarms(fleet(template, environment))[f"{environment.fleet}-server-errors"]
    share = computed(alarm, errors=errors, broken=broken, refused=refused, requests=1000.0)
    assert share is not None
    assert (share > alarm["Threshold"]) is alarming
    assert alarm["Threshold"] == MOST_ERRORS
    assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("GreaterThanThreshold", "notBreaching")
