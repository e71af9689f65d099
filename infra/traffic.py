"""`python -m infra.traffic NAME TEMPLATE`: refuses an update that would send all requests to tasks that are not there.

A gradual release leaves the requests with either of two target groups, by weights of the balancer's rule that ECS has
changed. CloudFormation does not know of that: where a template changes the rule, it writes the template's weights, and
after every second release these name the empty group.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from infra.environments import BadEnvironment, Environment, find_environment
from infra.preflight import run_aws
from infra.stacks.template import Template, of, weights

RULE = "AWS::ElasticLoadBalancingV2::ListenerRule"
Weights = Mapping[str, int]
"""Shares of the requests by the target group's logical name."""


def problem(before: Template, after: Template, live: Mapping[str, Weights]) -> str | None:
    """Why the update must not be made, and what to do instead; None where it may.

    Args:
        live: each rule's weights as the balancer has them, by logical names.
    """
    old, new = dict(of(before, RULE)), dict(of(after, RULE))
    for name, now in live.items():
        if old.get(name) == new.get(name):
            continue
        serving = {group for group, weight in now.items() if weight}
        if not serving & {group for group, weight in weights(new.get(name, {})).items() if weight}:
            return (
                f"the update changes {name}, and would send all requests to an empty target group: they are with "
                f"{', '.join(sorted(serving))} now. Release once without the change, which moves them back, then again."
            )
    return None


def ask(environment: Environment, aws: Callable[[Sequence[str]], str]) -> tuple[Template, dict[str, Weights]]:
    """The fleet's template as it is deployed, and the weights of those of its rules that have two target groups.

    Args:
        aws: runs the CLI with these arguments; returns its output, which is JSON.
    """
    stack = ("--region", environment.region, "--output", "json", "--stack-name", f"{environment.fleet}-fleet")
    body = json.loads(aws(["cloudformation", "get-template", *stack]))["TemplateBody"]
    template: Template = json.loads(body) if isinstance(body, str) else body
    moved = [name for name, rule in of(template, RULE) if len(weights(rule)) > 1]
    if not moved:
        return template, {}
    made = json.loads(aws(["cloudformation", "list-stack-resources", *stack]))["StackResourceSummaries"]
    arns = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in made}
    names = {arn: name for name, arn in arns.items()}
    rules = ["elbv2", "describe-rules", *stack[:4], "--rule-arns", *(arns[name] for name in moved)]
    return template, {
        names[rule["RuleArn"]]: {
            names.get(group["TargetGroupArn"], group["TargetGroupArn"]): int(group["Weight"])
            for action in rule["Actions"]
            for group in action["ForwardConfig"]["TargetGroups"]
        }
        for rule in json.loads(aws(rules))["Rules"]
    }


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    name, path = sys.argv[1:]
    try:
        environment = find_environment(name)
    except BadEnvironment as error:
        print(f"infra: {error}", file=sys.stderr)
        return 2
    try:
        before, live = ask(environment, run_aws)
    except subprocess.CalledProcessError as error:
        print(f"infra: {' '.join(error.cmd[:3])} failed; where the requests are is not known", file=sys.stderr)
        return 1
    found = problem(before, json.loads(Path(path).read_text()), live)
    if found:
        print(f"infra: {found}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
