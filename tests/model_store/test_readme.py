"""The README's commands, settings, metrics and links exist."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from service.commands.models import add_arguments
from service.environment import PREFIX
from service.settings import Settings

README = Path(__file__).parents[2] / "model_store" / "README.md"
TEXT = README.read_text()
COMMANDS = re.findall(r"^\.venv/bin/gleaner models (.*)$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_accepted(command: str) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert callable(parser.parse_args(shlex.split(command)).run)


def test_every_setting_exists() -> None:
    named = set(re.findall(rf"{PREFIX}[A-Z_]+", TEXT))
    assert named
    assert named <= {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_every_metric_exists() -> None:
    files = (README.parents[1] / "service" / "metrics").glob("*.py")
    metrics = "".join(path.read_text() for path in files)
    named = re.findall(r"`(gleaner_[a-z_]+)", TEXT)
    assert named
    for name in named:
        assert f'"{name.removesuffix("_total")}' in metrics, name
