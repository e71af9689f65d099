"""Alert rules ask for metrics that the service really has."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
NAMES = re.compile(r"gleaner_\w+")


def test_every_metric_in_the_rules_is_exported() -> None:
    known = set(NAMES.findall((ROOT / "service" / "metrics.py").read_text()))
    rules = yaml.safe_load((ROOT / "infra" / "prometheus" / "rules.yml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            used = {name.removesuffix("_total") for name in NAMES.findall(rule["expr"])}
            assert used <= known, rule["alert"]
            assert rule["annotations"]["summary"]
