"""`python -m infra.helm_files`: writes what the Helm chart takes from the policy and from Prometheus' rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from infra.scaling.policy import Policy, policy_for
from infra.stacks.container import INTERNAL_PORT, KEEP_ALIVE_SLACK_SECONDS, PORT

HERE = Path(__file__).parent
CHART = HERE / "helm" / "gleaner"
RULES = ("recording.yml", "alerts.yml")
PRE_STOP_SECONDS = 5
"""Nodes hear of a parting pod within a second or two; SIGTERM comes after that."""


def policy_file(policy: Policy) -> dict[str, float]:
    """Thresholds and times that the chart needs."""
    delays, targets, scale_in = policy.delays, policy.targets, policy.scale_in
    return {
        "port": PORT,
        "internal_port": INTERNAL_PORT,
        "pre_stop_seconds": PRE_STOP_SECONDS,
        "drain_grace_seconds": delays.drain_grace_seconds,
        "longest_request_seconds": delays.longest_request_seconds,
        "stop_seconds": delays.stop_seconds,
        "keep_alive_seconds": delays.idle_seconds + KEEP_ALIVE_SLACK_SECONDS,
        "ready_seconds": delays.ready_seconds,
        "work_ratio": targets.work_ratio,
        "backlog_seconds": targets.backlog_seconds,
        "scale_in_after_seconds": int(scale_in.alarm.seconds_to_alarm),
        "scale_in_percent": -scale_in.steps[0].percent,
        "scale_in_cooldown_seconds": scale_in.cooldown_seconds,
    }


def rules() -> list[dict[str, Any]]:
    """The groups of all rules."""
    return [group for name in RULES for group in yaml.safe_load((HERE / "prometheus" / name).read_text())["groups"]]


def files() -> dict[Path, str]:
    """The chart's files that repeat something, by path."""
    made = {"policy.json": policy_file(policy_for()), "rules.json": rules()}
    return {
        CHART / "files" / name: json.dumps(each, indent=1, ensure_ascii=False) + "\n" for name, each in made.items()
    }


def main() -> None:
    """Write them."""
    for path, text in files().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
