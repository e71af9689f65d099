"""`make deploy` and `make destroy`: what they would do, in which order, and what they refuse; AWS is never called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

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
        "-m infra.preflight production",
        "create-service-linked-role --aws-service-name ecs.amazonaws.com",
        "--stack-name gleaner-production-base",
        "secretsmanager put-secret-value",
        "infra.image.build --tag",
        "ecr get-login-password",
        "push",
        "--stack-name gleaner-production-fleet",
        "ImageTag=v1",
        "MachineImage=/aws/service/ecs/optimized-ami",
        "put-warm-pool",
        "--state-value ALARM",
    ]
    places = [dry.index(step) for step in steps]
    assert places == sorted(places)
    assert dry.count("--region eu-central-1") >= 8


@pytest.mark.parametrize("environment", [each.name for each in ENVIRONMENTS])
def test_each_line_of_a_dry_run_is_a_command(environment: str) -> None:
    """Of programs that are there, not of functions of the script."""
    done = [run(script, environment, "v1", DRY_RUN="1") for script in ("deploy.sh", "destroy.sh")]
    shown = [line.split()[1] for each in done for line in (each.stdout + each.stderr).splitlines() if line[:2] == "+ "]
    assert len(shown) > 30
    assert set(shown) <= {"aws", ".venv/bin/python", "\\<engine\\>"}


def test_a_dry_run_stores_the_digest_of_a_key_and_not_the_key(dry: str) -> None:
    (line,) = [line for line in dry.splitlines() if "put-secret-value" in line]
    assert "a new key" not in line
    assert len(line.rpartition("\\ ")[2]) == 64


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
        ("delete-stack", "gleaner-staging-machine"),
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
