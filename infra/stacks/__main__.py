"""`python -m infra.stacks --out FOLDER`: synthesizes all stacks; findings of any checker are failures.

CDK's own validation and cdk-nag run within the synthesis; cfn-lint reads the templates.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path

from cfnlint import ConfigMixIn, decode
from cfnlint.runner import Runner

from infra.environments import ENVIRONMENTS, BadEnvironment, find_environment
from infra.stacks.app import build

ZONES_BY_NAME = "W3010"
"""cfn-lint's warning of zones by name, which an environment may have."""
MOST_BYTES = 51_200
"""Bytes of a template that CloudFormation takes without a bucket: the base is sent so, which makes the bucket."""


def main() -> int:
    """Synthesize and check; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m infra.stacks", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where the templates go")
    parser.add_argument("--environment", help="only this one")
    parser.add_argument("--zones", nargs="*", default=(), help="those of its account, as infra.preflight prints them")
    chosen = parser.parse_args()
    try:
        environments = (find_environment(chosen.environment),) if chosen.environment else ENVIRONMENTS
        stacks = build(chosen.out, environments, zones=chosen.zones).synth().stacks
    except BadEnvironment as error:
        print(f"infra: {error}", file=sys.stderr)
        return 2
    for environment in environments:
        if environment.tuning.gpu_target:
            print(
                f"{environment.name}: gpu_target keeps more tasks than work needs; gleaner simulate says what it costs"
            )
    regions = sorted({environment.region for environment in ENVIRONMENTS})
    templates = sorted(Path(stack.template_full_path) for stack in stacks)
    found = [problem for template in templates for problem in check(template, regions)]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


@cache
def linter(*regions: str) -> Runner:
    """cfn-lint with its rules, which take a second to read."""
    return Runner(ConfigMixIn(regions=[*regions], ignore_checks=[ZONES_BY_NAME]))


def check(template: Path, regions: list[str]) -> list[str]:
    """Findings of cfn-lint, and a base that is too large to be sent."""
    text = template.read_text()
    read, unread = decode.decode_str(text)
    matches = unread or linter(*regions).validate_template(read)
    found = [f"{template.name}: {each.rule.id} {each.message} ({each.path})" for each in matches]
    if template.name.endswith("-base.template.json") and (size := template.stat().st_size) > MOST_BYTES:
        found.append(f"{template.name}: {size} bytes, of {MOST_BYTES} without a bucket: name fewer zones or options")
    print(f"{template.name:<40} {len(text) / 1000:5.1f} kB  {len(found)} findings")
    return found


if __name__ == "__main__":
    sys.exit(main())
