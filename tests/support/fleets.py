"""Environments with their templates: the examples and one with the options that cost; the alarms in a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.bulk_jobs import BulkJobs
from infra.environments import ENVIRONMENTS, Environment, Variant, find_environment
from infra.scaling.limits import Limits
from infra.scaling.policy_values import Tuning
from tests.support.templates import Template, resources

Read = Callable[[str], Template]
MOST_RULE_VALUES = 5
"""Values of one rule of a listener, by the balancer's own limit: so each adapter has a rule of its own."""
OPTIONS = replace(
    find_environment("production"),
    name="options",
    network="10.46.0.0/16",
    zones=("eu-central-1b", "eu-central-1c", "eu-central-1d"),
    spare_percent=20,
    tuning=Tuning(gpu_target=70),
    capacity_file=str(Path(__file__).with_name("capacity.json")),
)
"""What no example has: a target for the GPU, spare instances, zones by name, a measured capacity."""
PLAIN_OPTIONS = replace(
    find_environment("plain"),
    name="plain-options",
    network="10.49.0.0/16",
    zone_count=3,
    schedules=find_environment("production").schedules,
    tuning=Tuning(gpu_target=60),
)
"""The same without ECS, with schedules."""
_KEY = "arn:aws:kms:eu-central-1:111122223333:key/0000000{}-0000-0000-0000-000000000000"
PLAIN_JOBS = replace(
    find_environment("plain"),
    name="plain-jobs",
    network="10.48.0.0/16",
    limits=Limits(minimum_tasks=0, maximum_tasks=8),
    bulk=BulkJobs(
        inputs="s3://example-documents/in/",
        outputs="s3://example-documents/out/",
        events="s3://example-documents/out/inbox/",
        tasks=8,
        input_key=_KEY.format(1),
        output_key=_KEY.format(2),
        queue_key=_KEY.format(3),
    ),
)
"""Bulk jobs without ECS, from no instance on, with keys of the caller's."""
SYNTHESIZED = (*ENVIRONMENTS, OPTIONS, PLAIN_OPTIONS, PLAIN_JOBS)
EACH = pytest.mark.parametrize("environment", SYNTHESIZED, ids=lambda environment: environment.name)
ON_ECS = pytest.mark.parametrize(
    "environment", [each for each in SYNTHESIZED if each.variant is Variant.ECS], ids=lambda each: each.name
)


def fleet(template: Read, environment: Environment) -> Template:
    return template(f"{environment.name}-fleet")


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    return {each["AlarmName"]: each for each in resources(template, "AWS::CloudWatch::Alarm").values()}
