"""Reading a CloudFormation template, for the rules. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Template = Mapping[str, Any]
Resources = list[tuple[str, dict[str, Any]]]
Finding = tuple[str, str]
"""A resource's logical name and what is wrong with it."""
ENVIRONMENT_TAG = "environment"
"""On everything that costs: bills and budgets are by its value."""
_SETTING = re.compile(r"^(GLEANER_\w+)=(.*)$", re.MULTILINE)


def of(template: Template, kind: str) -> Resources:
    """The properties of all resources of a kind, by logical name."""
    found = template.get("Resources", {}).items()
    return [(name, each.get("Properties", {})) for name, each in found if each["Type"] == kind]


def attributes(properties: Mapping[str, Any], name: str) -> dict[str, str]:
    """A list of Key and Value as a mapping."""
    return {each["Key"]: each["Value"] for each in properties.get(name, ())}


def containers(template: Template) -> Resources:
    """The containers of all tasks, by their task's logical name."""
    tasks = of(template, "AWS::ECS::TaskDefinition")
    return [(name, each) for name, task in tasks for each in task.get("ContainerDefinitions", ())]


def variables(template: Template) -> dict[str, str]:
    """The environment variables of all containers; without ECS, those that user data writes into a file."""
    written = [pair for _, script in boot_scripts(template) for pair in _SETTING.findall(script)]
    told = [(each["Name"], each["Value"]) for _, c in containers(template) for each in c.get("Environment", ())]
    return dict([*written, *told])


def longest_request_seconds(template: Template) -> float:
    """The deadline of a request that names none; 0 without ECS."""
    return float(variables(template).get("GLEANER_DEADLINE_MS", 0)) / 1000


def boot_scripts(template: Template) -> list[tuple[str, str]]:
    """User data of all launch templates, with `${…}` not yet filled in, by logical name."""
    found = of(template, "AWS::EC2::LaunchTemplate")
    return [(name, each["LaunchTemplateData"]["UserData"]["Fn::Base64"]["Fn::Sub"][0]) for name, each in found]


def listed(value: Any) -> list[Any]:
    """A value where a template may have one or several."""
    return value if isinstance(value, list) else [value]
