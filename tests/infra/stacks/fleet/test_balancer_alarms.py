"""Alarms of the balancer: what they add up and take off, as CloudWatch would compute it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from infra.environments import Environment
from infra.stacks.fleet.balancer_alarms import MOST_ERRORS
from tests.support.fleets import EACH, Read, alarms, fleet
from tests.support.templates import resources


def computed(alarm: dict[str, Any], **points: float | None) -> float:
    """Its expression with these points; None for a metric without one in the minute."""
    (whole,) = [each for each in alarm["Metrics"] if each.get("ReturnData")]
    assert {each["Id"] for each in alarm["Metrics"]} - {whole["Id"]} == set(points)
    text = re.sub(r"FILL\((\w+), 0\)", lambda found: f"({points[found[1]] or 0})", whole["Expression"])
    return float(eval(re.sub(r"[a-z]\w*", lambda found: str(points[found[0]]), text)))


@EACH
def test_healthy_tasks_are_counted_wherever_they_are(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    alarm = alarms(made)[f"{environment.fleet}-too-few-healthy"]
    groups = len(resources(made, "AWS::ElasticLoadBalancingV2::TargetGroup"))
    assert groups == (2 if environment.release.gradual else 1)
    if groups == 2:
        assert computed(alarm, healthy0=4.0, healthy1=None) == computed(alarm, healthy0=None, healthy1=4.0) == 4
    else:
        assert computed(alarm, healthy0=4.0) == 4
    assert alarm["Threshold"] == environment.limits.minimum_tasks
    assert alarm["TreatMissingData"] == "breaching"


@EACH
@pytest.mark.parametrize(
    ("errors", "refused", "alarming"),
    [(None, None, False), (10.0, None, False), (11.0, None, True), (500.0, 500.0, False), (None, 500.0, False)],
)
def test_errors_are_counted_and_deadlines_that_nobody_could_keep_are_not(
    template: Read, environment: Environment, errors: float | None, refused: float | None, alarming: bool
) -> None:
    alarm = alarms(fleet(template, environment))[f"{environment.fleet}-server-errors"]
    share = computed(alarm, errors=errors, refused=refused, requests=1000.0)
    assert (share > alarm["Threshold"]) is alarming
    assert alarm["Threshold"] == MOST_ERRORS
    assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("GreaterThanThreshold", "notBreaching")
