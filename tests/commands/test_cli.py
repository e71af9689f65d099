"""The command itself: help everywhere, and what its exit codes mean."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from service.cli import COMMANDS, main

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "arguments",
    [["--help"], *([name, "--help"] for name in COMMANDS)]
    + [["models", action, "--help"] for action in ("publish", "list", "verify")],
)
def test_help_is_everywhere_and_exits_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert "usage: gleaner" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["dance"],
        ["extract"],
        ["models"],
        ["models", "publish", "folder"],
        ["extract", "--aggregation", "best", "f"],
    ],
)
def test_wrong_usage_exits_2_and_shows_the_right_one(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: gleaner" in capsys.readouterr().err


def test_alone_it_shows_its_help_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert all(f"\n    {name}" in shown.err for name in COMMANDS)
    assert shown.out == ""


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gleaner {version}\n"


def test_a_misspelt_setting_is_warned_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEANER_MODEL_STOR", "/nowhere")
    assert main(["models", "list"]) == 0
    assert "warning: GLEANER_MODEL_STOR is no setting and is ignored; did you mean GLEANER_MODEL_STORE?" in (
        capsys.readouterr().err
    )
    monkeypatch.delenv("GLEANER_MODEL_STOR")
    assert main(["models", "list"]) == 0
    assert capsys.readouterr().err == ""


def test_a_failure_is_one_sentence_and_exits_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["models", "publish", str(tmp_path / "nowhere"), "m", "--store", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("gleaner: ")
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


def test_a_bad_setting_is_a_failure_that_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLEANER_PORT", "eighty")
    assert main(["models", "list"]) == 1
    assert "GLEANER_PORT" in capsys.readouterr().err


def test_no_command_is_imported_for_help_and_no_other_for_one() -> None:
    assert imported("--help") == set()
    assert imported("serve", "--help") == {"serve"}


def imported(*arguments: str) -> set[str]:
    """The commands that a run of `gleaner` imports."""
    code = (
        "import atexit, sys; from service.cli import main\n"
        "atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr))\n"
        "main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return {name for name in COMMANDS if f"service.commands.{name}" in ended.stderr.splitlines()}


def test_a_reader_that_ends_early_ends_the_command_quietly(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"text": "Anna paid", "label": [[0, 4, "PERSON"]]}\n' * 20_000)
    command = [sys.executable, "-m", "service.cli", "data", "convert", str(data)]
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=buffered) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    assert running.returncode == 141
