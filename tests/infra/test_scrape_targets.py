"""Prometheus finds the tasks where the templates put them: their own addresses, the internal port, the group's name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.environments import ENVIRONMENTS, Environment, Variant
from infra.scrape_targets import CONTAINER, ask, targets
from infra.stacks.container import INTERNAL_PORT
from tests.support.fleets import ON_ECS, Read, fleet
from tests.support.templates import only, resources

ROOT = Path(__file__).parents[2]
FLEET = ROOT / "infra" / "prometheus" / "prometheus-fleet.yml"


def described(number: int, status: str = "RUNNING") -> dict[str, Any]:
    """A task as ECS describes it."""
    return {
        "taskArn": f"arn:aws:ecs:eu-central-1:1:task/gleaner-production/task{number:03}",
        "lastStatus": status,
        "availabilityZone": "eu-central-1a",
        "containers": [{"name": "gleaner", "networkInterfaces": [{"privateIpv4Address": f"10.42.1.{number}"}]}],
    }


def jobs() -> dict[str, dict[str, Any]]:
    found = yaml.safe_load(FLEET.read_text())["scrape_configs"]
    return {each["job_name"]: each for each in found}


def test_running_tasks_are_targets_at_their_own_addresses() -> None:
    found = targets([described(2), described(1), described(3, "PROVISIONING"), described(4, "STOPPED")])
    assert [each["targets"] for each in found] == [["10.42.1.1:8081"], ["10.42.1.2:8081"]]
    assert found[0]["labels"] == {"instance": "task001", "zone": "eu-central-1a"}


def test_more_tasks_are_asked_for_than_one_call_describes() -> None:
    """And more than the eight that a name in DNS would show."""
    calls: list[Sequence[str]] = []

    def aws(words: Sequence[str]) -> Any:
        calls.append(words)
        if words[1] == "list-tasks":
            return {"taskArns": [str(number) for number in range(230)]}
        return {"tasks": [described(int(number)) for number in words[words.index("--tasks") + 1 :]]}

    assert len(targets(ask(aws, "gleaner-production"))) == 230
    assert len(calls) == 4


@ON_ECS
def test_the_template_has_the_container_the_port_and_the_addresses(template: Read, environment: Environment) -> None:
    task = only(fleet(template, environment), "AWS::ECS::TaskDefinition")
    assert task["NetworkMode"] == "awsvpc", "an address of its own for each task"
    (container,) = task["ContainerDefinitions"]
    assert container["Name"] == CONTAINER
    assert INTERNAL_PORT in [each["ContainerPort"] for each in container["PortMappings"]]
    service = only(fleet(template, environment), "AWS::ECS::Service")
    cluster = only(fleet(template, environment), "AWS::ECS::Cluster")
    assert service["ServiceName"] == cluster["ClusterName"] == environment.fleet


def test_without_ecs_instances_are_found_by_a_tag_that_they_have(template: Read) -> None:
    (plain,) = [each for each in ENVIRONMENTS if each.variant is Variant.ASG]
    (source,) = jobs()["gleaner-without-ecs"]["ec2_sd_configs"]
    assert source["port"] == INTERNAL_PORT
    made = fleet(template, plain)
    filters = {each["name"]: set(each["values"]) for each in source["filters"]}
    for group in resources(made, "AWS::AutoScaling::AutoScalingGroup").values():
        tags = {f"tag:{each['Key']}": each["Value"] for each in group["Tags"] if each["PropagateAtLaunch"]}
        asked = {name: values for name, values in filters.items() if name.startswith("tag:")}
        assert asked
        assert all(tags.get(name) in values for name, values in asked.items()), "tags are case-sensitive"


@pytest.mark.second_tier  # promtool
def test_prometheus_takes_the_configuration_of_a_fleet() -> None:
    done = subprocess.run(["promtool", "check", "config", str(FLEET)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("fails", [False, True])
def test_the_file_is_written_whole_or_left_as_it_is(tmp_path: Path, fails: bool) -> None:
    answer = {"taskArns": ["a"], "tasks": [described(1)]}
    program = tmp_path / "aws"
    program.write_text("#!/bin/sh\nexit 1\n" if fails else f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    out = tmp_path / "ecs.json"
    out.write_text("[]")
    command = [sys.executable, "-m", "infra.scrape_targets", "gleaner-production", "--region", "r", "--out", str(out)]
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=path, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == fails
    assert len(json.loads(out.read_text())) == (0 if fails else 1)
