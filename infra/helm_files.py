"""`python -m infra.helm_files`: writes what the Helm chart takes from the policy and from Prometheus' rules."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import yaml

from infra.fleet_scaling import DEFAULT_MAX_QUEUE_MS
from infra.scaling.policy import Policy, policy_for
from infra.stacks.container import INTERNAL_PORT, KEEP_ALIVE_SLACK_SECONDS, PORT
from service.signals.routes import ALWAYS_PUBLIC

HERE = Path(__file__).parent
CHART = HERE / "helm" / "gleaner"
RULES = ("recording.yml", "alerts.yml")
PRE_STOP_SECONDS = 5
"""Seconds before SIGTERM in which nodes hear of a parting pod."""


def policy_file(policy: Policy) -> dict[str, object]:
    """Thresholds and times that the chart needs."""
    delays, targets, scale_in = policy.delays, policy.targets, policy.scale_in
    return {
        "port": PORT,
        "internal_port": INTERNAL_PORT,
        "pre_stop_seconds": PRE_STOP_SECONDS,
        "drain_grace_seconds": delays.drain_grace_seconds,
        "longest_request_seconds": delays.longest_request_seconds,
        "stop_seconds": delays.stop_seconds,
        "idle_seconds": delays.idle_seconds,
        "paths": list(ALWAYS_PUBLIC),
        "keep_alive_seconds": delays.idle_seconds + KEEP_ALIVE_SLACK_SECONDS,
        "ready_seconds": delays.ready_seconds,
        "max_queue_ms": DEFAULT_MAX_QUEUE_MS,
        "work_ratio": targets.work_ratio,
        "backlog_seconds": targets.backlog_seconds,
        "queue_depth": targets.queue_depth,
        "gpu_ratio": targets.gpu_percent / 100,
        "oldest_age_seconds": targets.backlog_seconds / 2,
        "scale_in_after_seconds": int(scale_in.alarm.seconds_to_alarm),
        "scale_in_percent": -scale_in.steps[0].percent,
        "scale_in_cooldown_seconds": scale_in.cooldown_seconds,
    }


def rules() -> list[dict[str, Any]]:
    """The groups of all rules."""
    return [group for name in RULES for group in yaml.safe_load((HERE / "prometheus" / name).read_text())["groups"]]


_METRIC = re.compile(r"\b(gleaner:[\w:]+|gleaner_\w+|up)\b(?![=(])(\{)?")


def of_one_release(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules with places for one release: <pods> and <release> in selectors, <namespace> and <name> in labels.

    Without them two releases in one Prometheus would be averaged, and their alerts sound twice.
    """
    made = copy.deepcopy(groups)
    for rule in (rule for group in made for rule in group["rules"]):
        rule["expr"] = _METRIC.sub(_selected, rule["expr"])
        rule["labels"] = {**rule.get("labels", {}), "namespace": "<namespace>", "release": "<name>"}
    return made


def _selected(found: re.Match[str]) -> str:
    place = "<release>" if ":" in found[1] else "<pods>"
    return f"{found[1]}{{{place}{',' if found[2] else '}'}"


def files() -> dict[Path, str]:
    """The chart's files that repeat something, by path."""
    made = {"policy.json": policy_file(policy_for()), "rules.json": of_one_release(rules())}
    return {
        CHART / "files" / name: json.dumps(each, indent=1, ensure_ascii=False) + "\n" for name, each in made.items()
    }


def main() -> None:
    """Write them."""
    for path, text in files().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
