"""Prometheus' files as its own tools judge them, and what they cannot know: our names, our promise, our runbook."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.scaling.policy import policy_for
from service.metrics.worker import WorkerMetrics
from tests.support.metric_values import exported_names

FOLDER = Path(__file__).parents[2] / "infra" / "prometheus"
NAMES = re.compile(r"\bgleaner_\w+")
SUFFIXES = ("_total", "_bucket", "_sum", "_count")


def ran(*command: str) -> str:
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rules(name: str) -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / name).read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


ALERTS = rules("alerts.yml")
alert = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: str(alert["alert"]))


def test_prometheus_takes_its_configuration() -> None:
    assert "2 rule files found" in ran("promtool", "check", "config", "prometheus.yml")


def test_the_rules_do_what_their_tests_say() -> None:
    ran("promtool", "test", "rules", "tests.yml")


def test_alertmanager_takes_its_configuration_and_knows_whom_to_tell() -> None:
    ran("amtool", "check-config", "alertmanager.yml")
    route = ("amtool", "config", "routes", "test", "--config.file=alertmanager.yml")
    assert ran(*route, "severity=page", "alertname=GleanerErrors").strip() == "on-call"
    assert ran(*route, "severity=ticket", "alertname=GleanerBacklog").strip() == "tickets"


def test_every_alert_that_silences_another_exists() -> None:
    known = {rule["alert"] for rule in ALERTS}
    named = re.findall(r"Gleaner\w+", (FOLDER / "alertmanager.yml").read_text())
    assert named
    assert set(named) <= known


@pytest.mark.parametrize("rule", ALERTS + rules("recording.yml"), ids=lambda rule: rule.get("alert") or rule["record"])
def test_every_rule_asks_for_metrics_that_the_service_has(rule: dict[str, Any]) -> None:
    known = exported_names()
    for name in NAMES.findall(rule["expr"]):
        plain = next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)
        assert {name, plain} & known, name


@alert
def test_every_alert_has_severity_summary_and_test(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("page", "ticket")
    assert alert["annotations"]["summary"].endswith((".", "?"))
    tested = re.findall(rf"alertname=.{alert['alert']}\b", (FOLDER / "tests.yml").read_text())
    assert tested


def test_slow_means_what_the_policy_promises() -> None:
    """The bound must be one of the histogram's, or the share would be a guess."""
    (slow,) = (rule["expr"] for rule in rules("recording.yml") if rule["record"] == "gleaner:slow:ratio5m")
    (bound,) = re.findall(r'le="([\d.]+)"', slow)
    assert float(bound) == policy_for().targets.slo_seconds
    (histogram,) = WorkerMetrics().request_seconds.labels("/extract").collect()
    assert bound in {sample.labels.get("le") for sample in histogram.samples}
