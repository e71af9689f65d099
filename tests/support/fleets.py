"""Environments with their templates: the examples and one with the options that cost; the alarms in a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from infra.environments import ENVIRONMENTS, Environment, Variant, find_environment
from infra.instances import Baking
from infra.scaling.policy_values import Tuning
from tests.support.templates import Template, resources

Read = Callable[[str], Template]
OPTIONS = replace(
    find_environment("production"),
    name="options",
    network="10.46.0.0/16",
    baking=Baking.WEEKLY,
    tuning=Tuning(gpu_target=70),
)
"""What no example has, because it costs: machine images of its own, a target for the GPU."""
SYNTHESIZED = (*ENVIRONMENTS, OPTIONS)
EACH = pytest.mark.parametrize("environment", SYNTHESIZED, ids=lambda environment: environment.name)
ON_ECS = pytest.mark.parametrize(
    "environment", [each for each in SYNTHESIZED if each.variant is Variant.ECS], ids=lambda each: each.name
)


def fleet(template: Read, environment: Environment) -> Template:
    return template(f"{environment.name}-fleet")


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    return {each["AlarmName"]: each for each in resources(template, "AWS::CloudWatch::Alarm").values()}
