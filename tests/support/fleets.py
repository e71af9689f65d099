"""Templates of the fleets, for each environment or for those on ECS, and the alarms in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra.environments import ENVIRONMENTS, Environment, Variant
from tests.support.templates import Template, resources

Read = Callable[[str], Template]
EACH = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.name)
ON_ECS = pytest.mark.parametrize(
    "environment", [each for each in ENVIRONMENTS if each.variant is Variant.ECS], ids=lambda each: each.name
)


def fleet(template: Read, environment: Environment) -> Template:
    return template(f"{environment.name}-fleet")


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    return {each["AlarmName"]: each for each in resources(template, "AWS::CloudWatch::Alarm").values()}
