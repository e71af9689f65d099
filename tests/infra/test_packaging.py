"""The wheel: service and model store alone, whose commands run where neither load tester nor infrastructure is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from service.cli import COMMANDS, NOT_INSTALLED
from tests.support.source_tree import ROOT, imports, place, sources

ELSEWHERE = {"loadtest", "simulate"}
"""Commands whose code is not in the wheel."""
LIBRARIES = [path for path in sys.path if path.endswith("site-packages")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel contains, without the model's weights."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for package in ("service", "model_store", "loadtest", "infra"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("*.safetensors", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "gleaner.py"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, source], check=True)
    (wheel,) = folder.glob("*.whl")
    shutil.unpack_archive(wheel, folder / "installed", "zip")
    return folder / "installed"


def run(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python on the unpacked wheel; without `site`, no editable installation leads back to the repository."""
    path = os.pathsep.join([str(installed), *LIBRARIES])
    command = [sys.executable, "-S", *words]
    return subprocess.run(
        command, cwd=installed, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )


def test_the_wheel_has_no_other_package(installed: Path) -> None:
    top = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"gleaner.py", "model_store", "service"}
    assert (installed / "service" / "api" / "console" / "static").is_dir()


HELP = """
import sys
from contextlib import suppress
from service.cli import main
for name in sys.argv[1:]:
    with suppress(SystemExit):
        assert not main([name, "--help"])
"""


def test_each_command_runs_without_the_repository(installed: Path) -> None:
    names = sorted(COMMANDS.keys() - ELSEWHERE)
    done = run(installed, "-c", HELP, *names)
    assert done.returncode == 0, done.stderr
    assert [name for name in names if f"usage: gleaner {name}" not in done.stdout] == []


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_a_command_of_the_repository_says_where_it_is(installed: Path, name: str) -> None:
    done = run(installed, "-m", "service.cli", name)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "make image ARGS=--loadtest" in done.stderr


def test_the_service_imports_nothing_that_is_not_installed() -> None:
    commands = {f"service/commands/{name}.py" for name in ELSEWHERE}
    for path in sources():
        if place(path).startswith(("service/", "model_store/")) and place(path) not in commands:
            assert not {module.partition(".")[0] for module in imports(path)} & {*NOT_INSTALLED}, place(path)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("service/client/pyproject.toml", r'^version = "(.+)"$'),
        ("service/client/typescript/package.json", r'^  "version": "(.+)"'),
        ("service/client/typescript/package-lock.json", r'"name": "gleaner-client",\s+"version": "(.+?)"'),
        ("service/client/typescript/README.md", r"gleaner-client-(.+)\.tgz"),
        ("INSTALL.md", r"--version (\S+)"),
        ("infra/helm/gleaner/README.md", r"--version (\S+)"),
        ("infra/README.md", r"(?:refs/tags/|tag |origin )v(\S+)"),
        ("infra/README.md", r"OWNER/gleaner:(\S+)"),
        ("CHANGELOG.md", r"\A# Changelog\n\n## (\S+)"),
    ],
)
def test_each_place_has_the_projects_version(path: str, place: str) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert {*re.findall(place, (ROOT / path).read_text(), re.MULTILINE)} == {version}
