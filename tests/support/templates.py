"""CloudFormation templates as tests read them."""

from __future__ import annotations

from typing import Any

Template = dict[str, Any]


def resources(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """All resources of a kind, by logical name."""
    return {name: each["Properties"] for name, each in template["Resources"].items() if each["Type"] == kind}


def only(template: Template, kind: str) -> dict[str, Any]:
    """The one resource of a kind."""
    (found,) = resources(template, kind).values()
    return found
