"""The stacks' templates, to look at or to spoil."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import synthesis
from tests.support.helm import Helm
from tests.support.templates import Template


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthesis.synthesized(tmp_path_factory)


@pytest.fixture
def template(synthesized: Path) -> Callable[[str], Template]:
    """A template by its stack's name without `gleaner-`, to look at or to spoil."""

    def read(name: str) -> Template:
        loaded: Template = json.loads((synthesized / f"gleaner-{name}.template.json").read_text())
        return copy.deepcopy(loaded)

    return read


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm.unpacked(tmp_path_factory.mktemp("helm"))
