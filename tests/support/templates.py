"""CloudFormation templates as tests read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Template = dict[str, Any]
_SETTING = re.compile(r"^(GLEANER_\w+)=(.*)$", re.MULTILINE)


def resources(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """All resources of a kind, by logical name."""
    return {name: each["Properties"] for name, each in template["Resources"].items() if each["Type"] == kind}


def only(template: Template, kind: str) -> dict[str, Any]:
    """The one resource of a kind."""
    (found,) = resources(template, kind).values()
    return found


def attributes(properties: Mapping[str, Any], name: str) -> dict[str, str]:
    """A list of Key and Value as a mapping."""
    return {each["Key"]: each["Value"] for each in properties.get(name, ())}


def containers(template: Template) -> list[dict[str, Any]]:
    """The containers of all tasks; none without ECS."""
    tasks = resources(template, "AWS::ECS::TaskDefinition").values()
    return [each for task in tasks for each in task["ContainerDefinitions"]]


def variables(template: Template) -> dict[str, str]:
    """The environment variables of all containers; without ECS, those that user data writes into a file."""
    written = [pair for script in boot_scripts(template) for pair in _SETTING.findall(script)]
    told = [(each["Name"], each["Value"]) for c in containers(template) for each in c.get("Environment", ())]
    return dict([*written, *told])


def boot_scripts(template: Template) -> list[str]:
    """User data of all launch templates, with `${…}` not yet filled in."""
    found = resources(template, "AWS::EC2::LaunchTemplate").values()
    return [each["LaunchTemplateData"]["UserData"]["Fn::Base64"]["Fn::Sub"][0] for each in found]


def listed(value: Any) -> list[Any]:
    """A value where a template may have one or several."""
    return value if isinstance(value, list) else [value]


def text(value: Any) -> str:
    """A string of a template, with `<name>` or `<name.attribute>` where CloudFormation fills something in."""
    if isinstance(value, str):
        return value
    ((function, argument),) = value.items()
    if function == "Fn::Join":
        return str(argument[0]).join(text(part) for part in argument[1])
    return f"<{argument if function == 'Ref' else '.'.join(argument)}>"
