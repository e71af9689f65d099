"""`gleaner simulate` as it is typed."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from loadtest.cli import EXTRA
from loadtest.simulator import command, single_task
from loadtest.simulator.single_task import latency_table
from service.cli import main
from tests.support.source_tree import ROOT

NOT_OF_THE_SERVICE = (*EXTRA, "aws_cdk", "constructs", "yaml", "pytest")
"""Libraries that come with an extra; `make run` installs none of them."""

simulated_once = cache(latency_table)


@pytest.fixture(autouse=True)
def _one_table_for_each_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests here are of the same service, whose table takes longest."""
    monkeypatch.setattr(command, "latency_table", simulated_once)


def roughly() -> str:
    """A program's line that fills tables of latencies there as here."""
    sizes = f"{single_task.SAMPLED}, {single_task.OVERLOADED}"
    return f"from loadtest.simulator import single_task; single_task.SAMPLED, single_task.OVERLOADED = {sizes}"


def test_it_draws_the_instances_and_says_what_they_cost() -> None:
    """With nothing but what the service needs: a module that stands as None cannot be imported."""
    without = f"import sys; sys.modules.update(dict.fromkeys({NOT_OF_THE_SERVICE}))"
    code = (
        f"{without}\n{roughly()}\nfrom service.cli import main\nsys.exit(main(['simulate', 'step', '--hours', '0.5']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    assert "100 documents a second at full load (assumed" in printed
    assert "production: 2 to 20 tasks, 8 instances in the warm pool" in printed
    assert "█ serving" in printed
    assert "per million documents" in printed
    assert "p99" in printed


@pytest.mark.parametrize(("options", "is_full"), [((), False), (("--rate", "500"), True)])
def test_a_fleet_that_cannot_grow_is_said(
    options: tuple[str, ...], is_full: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    for shape in ("step", "flash"):
        assert main(["simulate", shape, *options]) == 0
        assert ("of the maximum and a queue" in capsys.readouterr().out) == is_full


def test_a_page_has_the_plots_and_every_decision(tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    assert main(["simulate", "step", "--hours", "0.5", "--html", str(file)]) == 0
    text = file.read_text()
    assert text.count("<svg") == 4
    assert "work-ratio-high" in text
    assert "http://" not in text.replace("http://www.w3.org/", "")


def test_options_change_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["simulate", "step", "--hours", "0.5", "--json", "-"]
    outcomes = []
    for more in ([], ["--max-queue-ms", "500"], ["--parse-ms", "200"], ["--pool", "18"]):
        assert main([*common, *more]) == 0
        outcomes.append(json.loads(capsys.readouterr().out)["outcome"])
    plain, shed, parsed, pooled = outcomes
    assert shed["p99_ms"] < plain["p99_ms"] / 10
    assert parsed["kept"] < plain["kept"], "four parsers at 200 ms do 20 files a second of the device's 100"
    assert pooled["late"] + pooled["refused"] < plain["late"] + plain["refused"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--bulk-by", "0.5"), "the deadline of 0.5 h is missed"),
        (("--bulk-by", "1.4", "--bulk-tasks", "8"), "the deadline of 1.4 h is met"),
        (("--bulk-seconds", "1e-9"), "done at 0.00 h"),
    ],
)
def test_a_bulk_job_beside_the_demand_is_said(
    options: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["simulate", "steady", "--hours", "1.5", "--rate", "100", "--bulk", "2e6"]
    assert main([*command, *options]) == 0
    printed = capsys.readouterr().out
    assert words in printed
    assert "more than without it" in printed
    assert "beside it 100.000% of the documents in time" in printed


def test_a_fleet_for_bulk_jobs_alone_has_no_documents(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "steady", "--hours", "2", "--rate", "0", "--environment", "jobs", "--bulk", "1e6"]
    assert main([*command, "--bulk-by", "2"]) == 0
    printed = capsys.readouterr().out
    assert "is met" in printed
    assert "nan" not in printed


@pytest.mark.parametrize(("target", "said"), [("70", True), ("0", False)])
def test_what_a_target_for_the_gpu_costs_is_said(target: str, said: bool, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "steady", "--hours", "0.5", "--gpu-target", target]
    assert main(command) == 0
    assert ("keeping GPUs at 70 % costs" in capsys.readouterr().out) is said


@pytest.mark.parametrize(("name", "code", "words"), [("production", 2, "knows no time zones"), ("tryout", 0, "")])
def test_schedules_alone_need_a_machine_with_time_zones(name: str, code: int, words: str) -> None:
    """The interpreter finds neither the system's zones nor the package of them."""
    without = "import sys; sys.modules['tzdata'] = None"
    options = ["simulate", "step", "--hours", "0.5", "--environment", name]
    program = f"{without}\n{roughly()}\nfrom service.cli import main\nsys.exit(main({options}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={"PYTHONTZPATH": ""}, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--environment", "nowhere"], "there are production, staging, plain"),
        (["--environment", "plain"], "only fleets on ECS can be simulated"),
        (["--trace", "nowhere.csv"], "cannot be read"),
        (["--capacity", __file__], "the capacity file is not JSON"),
    ],
)
def test_what_cannot_be_simulated_is_a_sentence(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *options]) == 2
    assert words in capsys.readouterr().err
