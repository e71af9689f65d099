"""An update that would send all requests to the empty target group is refused before it is made."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.traffic import ask, problem
from tests.support.fleets import OPTIONS
from tests.support.templates import Template

Read = Callable[[str], Template]
RULE = "AWS::ElasticLoadBalancingV2::ListenerRule"
ROOT = Path(__file__).parents[2]


def rule(first: int, second: int, path: str = "/extract") -> dict[str, Any]:
    groups = [{"TargetGroupArn": {"Ref": name}, "Weight": weight} for name, weight in (("A", first), ("B", second))]
    return {
        "Conditions": [{"Field": "path-pattern", "PathPatternConfig": {"Values": [path]}}],
        "Actions": [{"Type": "forward", "ForwardConfig": {"TargetGroups": groups}}],
    }


def fleet(properties: dict[str, Any] | None) -> Template:
    return {"Resources": {"Routes": {"Type": RULE, "Properties": properties}} if properties else {}}


PLAIN = {"Conditions": [], "Actions": [{"Type": "forward", "TargetGroupArn": {"Ref": "A"}}]}
BEFORE = rule(100, 0)
AT_HOME, AWAY, BETWEEN = {"A": 100, "B": 0}, {"A": 0, "B": 100}, {"A": 90, "B": 10}


@pytest.mark.parametrize(
    ("after", "live", "refused"),
    [
        (BEFORE, AWAY, False),
        (BEFORE, AT_HOME, False),
        (rule(100, 0, "/redact"), AT_HOME, False),
        (rule(100, 0, "/redact"), BETWEEN, False),
        (rule(100, 0, "/redact"), AWAY, True),
        (rule(0, 100, "/redact"), AWAY, False),
        (PLAIN, AWAY, True),
        (PLAIN, AT_HOME, False),
        (None, AWAY, True),
    ],
)
def test_a_rule_may_change_while_the_requests_are_where_it_sends_them(
    after: dict[str, Any] | None, live: dict[str, int], refused: bool
) -> None:
    found = problem(fleet(BEFORE), fleet(after), {"Routes": live})
    assert bool(found) is refused
    if found:
        assert "Release once without the change" in found


def answers(template: Template, first: int, second: int) -> Callable[[Sequence[str]], str]:
    """The AWS CLI, over one stack whose rule has these weights."""
    name, found = next((name, each) for name, each in template["Resources"].items() if each["Type"] == RULE)
    tuples = found["Properties"]["Actions"][0].get("ForwardConfig", {}).get("TargetGroups", [])
    groups = [each["TargetGroupArn"]["Ref"] for each in tuples]
    made = [{"LogicalResourceId": each, "PhysicalResourceId": f"arn:{each}"} for each in (name, *groups)]

    def aws(arguments: Sequence[str]) -> str:
        if "get-template" in arguments:
            return json.dumps({"TemplateBody": template})
        if "list-stack-resources" in arguments:
            return json.dumps({"StackResourceSummaries": made})
        assert arguments[-1] == f"arn:{name}"
        shares = zip(groups, (first, second), strict=True)
        live = [{"TargetGroupArn": f"arn:{group}", "Weight": weight} for group, weight in shares]
        action = {"Type": "forward", "ForwardConfig": {"TargetGroups": live}}
        return json.dumps({"Rules": [{"RuleArn": f"arn:{name}", "Actions": [action]}]})

    return aws


def test_of_a_real_fleet_the_weights_are_asked_for(template: Read) -> None:
    deployed = template("options-fleet")
    before, live = ask(OPTIONS, answers(deployed, 0, 100))
    assert problem(before, deployed, live) is None, "a release of the same template"
    changed = template("options-fleet")
    (routes,) = (each["Properties"] for each in changed["Resources"].values() if each["Type"] == RULE)
    routes["Priority"] = 7
    assert problem(before, changed, live)
    _, at_home = ask(OPTIONS, answers(deployed, 100, 0))
    assert problem(before, changed, at_home) is None


def test_of_a_rolling_fleet_nothing_more_is_asked(template: Read) -> None:
    deployed = template("production-fleet")
    before, live = ask(OPTIONS, answers(deployed, 0, 0))
    assert (before, live) == (deployed, {})


def test_an_unknown_environment_is_a_sentence() -> None:
    command = [sys.executable, "-m", "infra.traffic", "prod", "x.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, "there are production" in done.stderr) == (2, True)
