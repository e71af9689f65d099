"""`gleaner loadtest` as users call it, against small real servers."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace as with_fields
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.scaling.capacity import read_capacity
from loadtest import cli
from loadtest.commands import finish, latencies
from loadtest.errors import NotTrusted
from loadtest.results import knee
from loadtest.scenario.traces import read_trace
from loadtest.service_process import process_tree
from tests.support.load_records import good
from tests.support.load_result import made_result
from tests.support.local_http import Call, Reply, http_server
from tests.support.processes import command_of, lives
from tests.support.service import wait_until


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return parser.parse_args(words)


def call(*words: str) -> int:
    return cli.run(parsed(*words))


@pytest.mark.parametrize(
    ("words", "scenario"),
    [
        ((), "default"),
        (("smoke",), "smoke"),
        (("run", "spike"), "spike"),
        (("mine/one.toml", "--rate", "5"), "mine/one.toml"),
        (("--find-knee", "--slo-ms", "500"), "default"),
        (("--url", "http://x", "overload"), "overload"),
    ],
)
def test_a_scenario_may_be_named_without_the_command_run(words: tuple[str, ...], scenario: str) -> None:
    chosen = parsed(*words)
    assert (chosen.command, chosen.scenario) == ("run", scenario)


def test_a_run_leaves_raw_results_a_summary_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Against a server that has nothing but /extract: no /metrics, no /readyz."""
    folder = tmp_path / "a"
    load = ("--rate", "100", "--seconds", "1", "--assert", "error_rate==0", "--assert", "ok>50")
    with http_server(good) as url:
        assert call("--untrusted", "--url", url, *load, "--out", str(folder)) == 0
    printed = capsys.readouterr().out
    assert "holds: error_rate==0" in printed
    assert "No request failed." in printed
    names = {"report.html", "requests.csv.gz", "service.csv", "summary.json"}
    assert {path.name for path in folder.iterdir()} == names
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["whole"]["requests"] == summary["whole"]["ok"] > 50
    assert call("compare", str(folder), str(folder)) == 0
    assert "No difference shown" in capsys.readouterr().out


def test_a_failing_assertion_is_named_and_the_exit_code_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_server(good) as url:
        words = ("--untrusted", "--url", url, "--rate", "20", "--seconds", "1", "--out", str(tmp_path / "a"))
        assert call(*words, "--assert", "p99_ms<0.001", "--assert", "error_rate==0") == 1
    message = capsys.readouterr().err
    assert "FAILS: p99_ms<0.001 (measured: " in message
    assert "error_rate" not in message.splitlines()[-1]


def test_a_synthetic_day_is_written_as_a_trace_and_replayed(tmp_path: Path) -> None:
    file = tmp_path / "day.csv"
    assert call("day", "spiky", str(file)) == 0
    assert len(read_trace(file).counts) == 1_440
    with http_server(good) as url:
        words = ("--trace", str(file), "--time-scale", "86400", "--rate-scale", "0.0001", "--untrusted", "--url", url)
        assert call(*words, "--out", str(tmp_path / "a")) == 0
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["whole"]["requests"] == round(sum(read_trace(file).counts) * 0.0001)


def test_the_knee_of_a_server_is_found_and_written_for_the_scaling_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does one thing at a time, each in 4 ms: it cannot hold more than it does at full load.

    Its time goes on while its threads wait for a busy machine, as a device's does; else that would be its capacity.
    """
    monkeypatch.setattr(knee, "PRECISION", 0.5)  # Fewer trials: each takes seconds.
    one_at_a_time, free_at = threading.Lock(), 0.0

    def reply(call: Call) -> Reply:
        nonlocal free_at
        with one_at_a_time:
            done_at = free_at = max(free_at, time.monotonic()) + 0.004
        time.sleep(max(done_at - time.monotonic(), 0.0))
        return good(call)

    with http_server(reply) as url:
        words = ("--find-knee", "--untrusted", "--slo-ms", "400", "--seconds", "1", "--url", url)
        assert call(*words, "--out", str(tmp_path)) == 0
    text = (tmp_path / "capacity.json").read_text()
    found, policy = json.loads(text), read_capacity(text)
    assert 20 < found["documents_per_second"] < 400, "250 a second is all that the server does, on any machine"
    assert 20 < found["saturated_documents_per_second"] < 400
    assert policy.tokens_per_second == pytest.approx(40 * policy.documents_per_second)
    assert found["p99_ms"] <= 400
    assert [trial["word"] for trial in found["knee"]].count("holds") >= 1


def test_nothing_is_reported_when_the_generator_was_the_bottleneck(tmp_path: Path) -> None:
    result = made_result()
    late = with_fields(result.summary.generator, problems=("a generator process used 97 % of a core",))
    bad = with_fields(result, summary=replace(result.summary, generator=late))
    with pytest.raises(NotTrusted, match="97 % of a core"):
        finish(bad, tmp_path, [])
    assert (tmp_path / "requests.csv.gz").exists()
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("nonesuch",),
        ("compare", "no", "nowhere"),
        ("smoke", "--assert", "speed>1"),
        ("deploy", "--url", "http://127.0.0.1:9"),
        ("smoke", "--url", "ftp://127.0.0.1"),
    ],
)
def test_bad_input_is_exit_code_2_with_a_sentence(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*words) == 2
    assert capsys.readouterr().err.startswith("gleaner loadtest: ")


@pytest.mark.parametrize(
    "words", [("smoke", "spike"), ("compare", "only-one"), ("day", "quiet", "f"), ("day", "spiky")]
)
def test_wrong_arguments_are_exit_code_2(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*words)
    assert ended.value.code == 2


def test_an_unreachable_url_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("smoke", "--url", "http://127.0.0.1:9") == 1
    assert "nothing answers at http://127.0.0.1:9/extract" in capsys.readouterr().err


@pytest.mark.parametrize("library", cli.EXTRA)
def test_a_missing_library_of_the_extra_ends_with_the_pip_command(library: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; from service.cli import main; sys.exit(main(['loadtest']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"gleaner loadtest: not installed: {library}; ")
    assert "-m pip install -e '.[loadtest]'" in line


SIGTERM_COMMANDS = {
    "bench": ("loadtest.bench", "--only", "start"),
    "gleaner loadtest": ("service.cli", "loadtest", "smoke", "--capacity", "5"),
}


@pytest.mark.second_tier
@pytest.mark.parametrize("name", SIGTERM_COMMANDS)
def test_sigterm_ends_the_started_processes_too(name: str) -> None:
    def below() -> list[int]:
        return [each.pid for each in process_tree(process.pid)]

    with subprocess.Popen([sys.executable, "-m", *SIGTERM_COMMANDS[name]], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: any("service.engine" in command_of(each) for each in below()))
        started = below()
        process.send_signal(signal.SIGTERM)
        assert process.wait(180) == 1
    wait_until(lambda: not any(lives(each) for each in started))  # The kernel ends those whose parent has ended.


def test_latencies_are_told_as_far_as_there_are_answers() -> None:
    assert latencies([]) == "no answer of late"
    assert latencies([12.0]) == "p50 12 ms"
    assert latencies([10.0] * 100) == "p50 10 ms, p99 10 ms"
