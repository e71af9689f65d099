"""Updates of stacks that CloudFormation refuses, judged from the templates alone.

It makes what is new, or replaced, before it deletes what is old; which properties mean a replacement is in the schemas
of the resources' providers, as cfn-lint has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from tests.support.templates import Template, resources

ELB = "AWS::ElasticLoadBalancingV2"


class Refusal(Exception):
    """CloudFormation's answer to an update."""


class Stacks:
    """Deployed stacks of one account, by name."""

    def __init__(self) -> None:
        self.deployed: dict[str, Template] = {}

    def deploy(self, name: str, new: Template) -> None:
        """Update a stack.

        Raises:
            Refusal: its resources cannot be changed so.
        """
        old = self.deployed.get(name, {"Resources": {}})
        made = _made(old, new)
        others = [each for stack, each in self.deployed.items() if stack != name]
        lacking = _imported(new).difference(*map(_exported, others))
        missing = [f"no export named {each}" for each in lacking]
        for problem in (*missing, *_exports(old, new, made, others), *_resources(old, new, made)):
            raise Refusal(f"{name}: {problem}")
        self.deployed[name] = new


def _made(old: Template, new: Template) -> set[str]:
    """Resources that are new, or replaced, maybe since one is that they belong to for good."""
    made = {
        name
        for name, each in new["Resources"].items()
        if each["Type"] != old["Resources"].get(name, {}).get("Type")
        or _for_good(each) != _for_good(old["Resources"][name])
    }
    while more := {
        name
        for name, each in new["Resources"].items()
        if name not in made and any(_mentions(value, made) for value in _for_good(each).values())
    }:
        made |= more
    return made


def _for_good(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Properties without an update in place."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource["Type"]).schema
    found = {}
    for path in schema.get("createOnlyProperties", ()):
        value: Any = resource.get("Properties", {})
        for key in path.split("/")[2:]:
            value = value.get(key) if isinstance(value, dict) else None
        found[path] = value
    return found


def _exports(old: Template, new: Template, made: set[str], others: list[Template]) -> Iterator[str]:
    used = {name for each in others for name in _imported(each)}
    now = _exported(new)
    for name, value in _exported(old).items():
        if name in used and (now.get(name) != value or _mentions(value, made)):
            yield f"export {name} is in use"


def _exported(template: Template) -> dict[str, Any]:
    outputs = template.get("Outputs", {}).values()
    return {each["Export"]["Name"]: each["Value"] for each in outputs if "Export" in each}


def _imported(template: Template) -> set[str]:
    return {*re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(template))}


def _resources(old: Template, new: Template, made: set[str]) -> Iterator[str]:
    names = {pair for each in old["Resources"].values() for pair in _names(each)}
    blocks = [ip_network(each["CidrBlock"]) for each in resources(old, "AWS::EC2::Subnet").values()]
    for name in sorted(made):
        each = new["Resources"][name]
        for kind, value in _names(each):
            if (kind, value) in names:
                yield f"{value} of {name} already exists"
        if each["Type"] == "AWS::EC2::Subnet" and any(
            ip_network(each["Properties"]["CidrBlock"]).overlaps(block) for block in blocks
        ):
            yield f"addresses of {name} are another's"
        if each["Type"] == f"{ELB}::LoadBalancer" and name in old["Resources"]:
            yield from (f"{target} has a balancer" for target in resources(new, f"{ELB}::TargetGroup").keys() - made)
    yield from _priorities(old, new)
    yield from _providers(old, new)


def _names(resource: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names that it was given, which no other of its type may have."""
    for path, value in _for_good(resource).items():
        if path.endswith("Name") and isinstance(value, str) and path.count("/") == 2:
            yield resource["Type"], value


def _priorities(old: Template, new: Template) -> Iterator[str]:
    """A rule has its new priority before others give theirs back."""
    had = {
        (str(each["ListenerArn"]), each["Priority"]): name
        for name, each in resources(old, f"{ELB}::ListenerRule").items()
    }
    for name, each in resources(new, f"{ELB}::ListenerRule").items():
        if had.get((str(each["ListenerArn"]), each["Priority"]), name) != name:
            yield f"priority {each['Priority']} of {name} is in use"


def _providers(old: Template, new: Template) -> Iterator[str]:
    """The cluster loses a capacity provider before its service is told, which depends on it."""
    kind = "AWS::ECS::ClusterCapacityProviderAssociations"
    left = [each for found in resources(new, kind).values() for each in found["CapacityProviders"]]
    for service in resources(old, "AWS::ECS::Service").values():
        for share in service["CapacityProviderStrategy"]:
            if share["CapacityProvider"] not in left:
                yield f"{share['CapacityProvider']} is in use and cannot be removed"


def _mentions(value: Any, names: set[str]) -> bool:
    found = re.findall(r'"(?:Ref|Fn::GetAtt)": \[?"([^".]+)', json.dumps(value))
    return not names.isdisjoint(found)
