"""Prometheus' files as its own tools judge them, and what they cannot know: our names, our promise, our templates."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.environments import ENVIRONMENTS, Variant, find_environment
from infra.scaling.oncall_alarms import MOST_REFUSED
from infra.stacks.container import INTERNAL_PORT
from service.signals.points import CAPACITY_REFUSALS
from tests.support.fleets import Read, fleet
from tests.support.metric_values import exported_names
from tests.support.templates import only, resources

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


FLEET = yaml.safe_load((FOLDER / "prometheus-fleet.yml").read_text())
ON_ECS, WITHOUT_ECS = FLEET["scrape_configs"]
DOCUMENTED = {"role", "region", "clusters", "port", "refresh_interval"}
"""Fields of `aws_sd_config`, some of them, by the documentation of Prometheus 3.8 to 3.14."""


def described(number: int, status: str) -> dict[str, Any]:
    """A target with the labels that Prometheus documents for a task on ECS, as far as they matter here."""
    labels = {
        "__meta_ecs_last_status": status,
        "__meta_ecs_task_arn": f"arn:aws:ecs:eu-central-1:111122223333:task/gleaner-production/task{number}",
        "__meta_ecs_availability_zone": "eu-central-1a",
        "__meta_ecs_ec2_instance_type": "g6.xlarge",
    }
    return {"targets": [f"10.42.1.{number}:8081"], "labels": labels}


def test_running_tasks_on_ecs_are_scraped_by_their_own_names(tmp_path: Path) -> None:
    """The promtool of Debian is older than Prometheus' discovery on ECS, so the targets are written into the file."""
    found = [described(1, "RUNNING"), described(2, "PENDING")]
    job = {name: value for name, value in ON_ECS.items() if name != "aws_sd_configs"} | {"static_configs": found}
    path = tmp_path / "prometheus.yml"
    path.write_text(yaml.safe_dump(FLEET | {"rule_files": [], "scrape_configs": [job, WITHOUT_ECS]}))
    ran("promtool", "check", "config", str(path))
    targets = json.loads(ran("promtool", "check", "service-discovery", "--timeout=1s", str(path), "gleaner"))
    shown = [{name: value for name, value in each["labels"].items() if name[0] != "_"} for each in targets]
    named = {"job": "gleaner", "instance": "task1", "zone": "eu-central-1a", "instance_type": "g6.xlarge"}
    assert sorted(shown, key=len) == [{}, named], "the second is dropped; promtool prints them in any order"


def test_tasks_are_looked_for_in_the_cluster_that_the_template_makes(template: Read) -> None:
    (source,) = ON_ECS["aws_sd_configs"]
    assert set(source) == DOCUMENTED
    assert source["role"] == "ecs"
    (arn,) = source["clusters"]
    environment = find_environment(arn.rpartition("/gleaner-")[2])
    assert re.fullmatch(rf"arn:aws:ecs:{environment.region}:\d{{12}}:cluster/{environment.fleet}", arn)
    made = fleet(template, environment)
    assert only(made, "AWS::ECS::Cluster")["ClusterName"] == environment.fleet
    task = only(made, "AWS::ECS::TaskDefinition")
    assert task["NetworkMode"] == "awsvpc", "an address of its own for each task"
    ports = [each["ContainerPort"] for each in task["ContainerDefinitions"][0]["PortMappings"]]
    assert source["port"] == INTERNAL_PORT in ports


def test_without_ecs_instances_are_found_by_a_tag_that_they_have(template: Read) -> None:
    (plain,) = [each for each in ENVIRONMENTS if each.variant is Variant.ASG]
    (source,) = WITHOUT_ECS["ec2_sd_configs"]
    assert source["port"] == INTERNAL_PORT
    filters = {each["name"]: set(each["values"]) for each in source["filters"]}
    for group in resources(fleet(template, plain), "AWS::AutoScaling::AutoScalingGroup").values():
        tags = {f"tag:{each['Key']}": each["Value"] for each in group["Tags"] if each["PropagateAtLaunch"]}
        asked = {name: values for name, values in filters.items() if name.startswith("tag:")}
        assert asked
        assert all(tags.get(name) in values for name, values in asked.items()), "tags are case-sensitive"


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


def test_refusals_are_those_that_cloudwatch_counts() -> None:
    (rule,) = [rule for rule in ALERTS if rule["alert"] == "GleanerRefuses"]
    (codes,) = re.findall(r'code=~"([^"]+)"', rule["expr"])
    assert codes.split("|") == [*CAPACITY_REFUSALS]
    assert rule["expr"].endswith(f"> {MOST_REFUSED}")


@alert
def test_every_alert_has_severity_summary_and_test(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("page", "ticket")
    assert alert["annotations"]["summary"].endswith((".", "?"))
    tested = re.findall(rf"alertname=.{alert['alert']}\b", (FOLDER / "tests.yml").read_text())
    assert tested


def test_a_limit_on_latency_is_a_rule_once_it_is_measured(tmp_path: Path) -> None:
    """The file has it as a comment, for the figure to be filled in."""
    text = (FOLDER / "recording.yml").read_text()
    uncommented = text.replace("# - record: gleaner:request_seconds:slo", "- record: gleaner:request_seconds:slo")
    (tmp_path / "recording.yml").write_text(uncommented.replace("#   expr: vector", "  expr: vector"))
    assert f"{len(rules('recording.yml')) + 1} rules found" in ran(
        "promtool", "check", "rules", str(tmp_path / "recording.yml")
    )
