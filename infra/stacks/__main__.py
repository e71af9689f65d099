"""`python -m infra.stacks --out FOLDER`: synthesizes all stacks; findings of any checker are failures.

CDK's own validation and cdk-nag run within the synthesis; cfn-lint and our rules read the templates.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from cfnlint import ManualArgs, lint

from infra.environments import ENVIRONMENTS, BadEnvironment, Environment, find_environment
from infra.stacks.app import build
from infra.stacks.template_rules import findings


def main() -> int:
    """Synthesize and check; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m infra.stacks", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where the templates go")
    parser.add_argument("--environment", help="only this one; must be fit to be deployed")
    chosen = parser.parse_args()
    try:
        build(chosen.out, _chosen(chosen.environment)).synth()
    except BadEnvironment as error:
        print(f"infra: {error}", file=sys.stderr)
        return 2
    for environment in _chosen(chosen.environment):
        if environment.tuned.tuning.gpu_target:
            print(
                f"{environment.name}: gpu_target keeps more tasks than work needs; gleaner simulate says what it costs"
            )
    regions = sorted({environment.region for environment in ENVIRONMENTS})
    found = [problem for template in templates(chosen.out) for problem in check(template, regions)]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


def templates(out: Path) -> list[Path]:
    """The templates that a synthesis wrote."""
    return sorted(out.glob("*.template.json"))


def check(template: Path, regions: list[str]) -> list[str]:
    """Findings of cfn-lint and of our own rules."""
    text = template.read_text()
    linted = [
        f"{template.name}: {each.rule.id} {each.message} ({each.path})"
        for each in lint(text, config=ManualArgs(regions=regions))
    ]
    ours = [f"{template.name}: {problem}" for problem in findings(json.loads(text))]
    print(f"{template.name:<40} {len(text) / 1000:5.1f} kB  {len(linted) + len(ours)} findings")
    return linted + ours


def _chosen(name: str | None) -> tuple[Environment, ...]:
    if name is None:
        return ENVIRONMENTS
    environment = find_environment(name)
    if environment.is_placeholder:
        raise BadEnvironment(f"{name}: put your certificate's ARN into infra/environments.py first")
    return (environment,)


if __name__ == "__main__":
    sys.exit(main())
