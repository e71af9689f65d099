"""What is done on the building instance, as its scripts do it: the image pulled, the instance forgotten, errors not."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.stacks.machine_image.component import STEPS, document, version_of
from infra.stacks.machine_image_rules import scripts

STUB = """#!/bin/bash
echo "$(basename "$0") $*" >> {calls}
{does}
"""
IMAGE = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/images:v7"


@dataclass
class Builder:
    """An instance's commands, with what each of them does."""

    folder: Path

    def has(self, name: str, does: str = "") -> None:
        path = self.folder / name
        path.write_text(STUB.format(calls=self.folder / "calls", does=does))
        path.chmod(0o755)

    def run(self, phase: str) -> subprocess.CompletedProcess[str]:
        """Steps one after the other, as Image Builder does; the first that fails ends it."""
        script = re.sub(r"\$\{(AWS::)?(\w+)\}", r"the-\2", scripts(document())[phase])
        script = script.replace("/var/", f"{self.folder}/var/").replace("/root/", f"{self.folder}/root/")
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    made = Builder(tmp_path)
    for name in ("dnf", "systemctl"):
        made.has(name)
    made.has("docker", '[ "$1" != login ] || cat > /dev/null')
    made.has("aws", f'case "$*" in *get-parameter*) echo {IMAGE} ;; *) echo token ;; esac')
    for left in ("var/lib/ecs/data/agent.db", "root/.docker/config.json"):
        path = tmp_path / left
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    return made


def test_the_image_that_the_parameter_names_is_pulled_and_the_instance_forgotten(builder: Builder) -> None:
    done = builder.run("build")
    assert done.returncode == 0, done.stderr
    assert f"docker pull --quiet {IMAGE}" in builder.calls
    order = [call.split()[1] for call in builder.calls if call.startswith("docker")]
    assert order == ["login", "pull", "logout"]
    assert any("--name the-WantedContainer" in call for call in builder.calls)
    assert not (builder.folder / "var/lib/ecs/data").exists()
    assert not (builder.folder / "root/.docker/config.json").exists()
    assert "dnf" not in " ".join(builder.calls), "the AWS CLI is there already"


@pytest.mark.parametrize("fails", ["get-parameter", "get-login-password"])
def test_without_parameter_or_token_the_build_fails(builder: Builder, fails: str) -> None:
    builder.has("aws", f'case "$*" in *{fails}*) exit 255 ;; *) echo x ;; esac')
    assert builder.run("build").returncode != 0
    assert not any(call.startswith("docker pull") for call in builder.calls)


def test_an_image_that_cannot_be_pulled_fails_the_build(builder: Builder) -> None:
    builder.has("docker", '[ "$1" != login ] || cat > /dev/null; [ "$1" != pull ]')
    assert builder.run("build").returncode != 0


@pytest.mark.parametrize("phase", ["validate", "test"])
def test_a_machine_image_without_the_image_is_not_noted(builder: Builder, phase: str) -> None:
    assert builder.run(phase).returncode == 0
    assert f"docker image inspect {IMAGE}" in builder.calls
    builder.has("docker", '[ "$1 $2" != "image inspect" ]')
    assert builder.run(phase).returncode != 0


def test_each_step_begins_strictly_whatever_ran_before_it() -> None:
    assert document().count("set -euo pipefail") == sum(len(steps) for steps in STEPS.values())


def test_a_version_follows_the_content_and_is_one_that_image_builder_takes() -> None:
    assert version_of("a", "b") == version_of("a", "b")
    assert len({version_of("a", "b"), version_of("ab", ""), version_of("a", "c"), version_of("a")}) == 4
    for text in ("", "a", document()):
        major, minor, patch = (int(part) for part in version_of(text).split("."))
        assert (major, minor) == (1, 0)
        assert 0 <= patch < 2**30
