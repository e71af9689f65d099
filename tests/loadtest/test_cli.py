"""`gleaner loadtest` as people call it, against small real servers."""

from __future__ import annotations

import argparse
import json
import threading
import time
from dataclasses import replace as with_fields
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.scaling.capacity import read_capacity
from loadtest import cli
from loadtest.arrivals.traces import read_trace
from loadtest.errors import NotTrusted
from tests.support.load_records import answering, good
from tests.support.load_result import made_result


def call(*words: str) -> int:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return cli.run(parser.parse_args(words))


def test_a_run_leaves_raw_results_a_summary_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Against a server that has nothing but /extract: no /metrics, no /readyz."""
    with answering(good) as url:
        words = (
            "--untrusted",
            "--url",
            url,
            "--rate",
            "40",
            "--seconds",
            "3",
            "--assert",
            "error_rate==0",
            "--assert",
            "ok>50",
        )
        assert call(*words, "--out", str(tmp_path / "a")) == 0
    printed = capsys.readouterr().out
    assert "holds: error_rate==0" in printed
    assert "No request failed." in printed
    assert {path.name for path in (tmp_path / "a").iterdir()} == {
        "report.html",
        "requests.csv.gz",
        "service.csv",
        "summary.json",
    }
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["whole"]["requests"] == summary["whole"]["ok"] > 50
    assert call("compare", str(tmp_path / "a"), str(tmp_path / "a")) == 0
    assert "No difference shown" in capsys.readouterr().out


def test_a_condition_that_fails_is_named_and_the_exit_code_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(good) as url:
        words = ("--untrusted", "--url", url, "--rate", "20", "--seconds", "2", "--out", str(tmp_path / "a"))
        assert call(*words, "--assert", "p99_ms<0.001", "--assert", "error_rate==0") == 1
    said = capsys.readouterr().err
    assert "FAILS: p99_ms<0.001 (measured: " in said
    assert "error_rate" not in said.splitlines()[-1]


def test_a_trace_of_a_made_up_day_is_written_and_replayed(tmp_path: Path) -> None:
    file = tmp_path / "day.csv"
    assert call("day", "spiky", str(file)) == 0
    assert len(read_trace(file).counts) == 1_440
    with answering(good) as url:
        words = ("--trace", str(file), "--time-scale", "43200", "--rate-scale", "0.0001", "--untrusted", "--url", url)
        assert call(*words, "--out", str(tmp_path / "a")) == 0
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["whole"]["requests"] == round(sum(read_trace(file).counts) * 0.0001)


def test_the_knee_of_a_server_is_found_and_its_capacity_is_what_the_scaling_policy_reads(tmp_path: Path) -> None:
    """A server that does one thing at a time, each in 4 ms: it cannot hold more than it does at full load.

    Its time goes on while its threads wait for a busy machine, as a device's does; else that would be its capacity.
    """
    turn, free_at = threading.Lock(), 0.0

    def reply(body: bytes) -> tuple[int, dict[str, str], bytes]:
        nonlocal free_at
        with turn:
            done_at = free_at = max(free_at, time.monotonic()) + 0.004
        time.sleep(max(done_at - time.monotonic(), 0.0))
        return good(body)

    with answering(reply) as url:
        words = ("--find-knee", "--untrusted", "--slo-ms", "400", "--seconds", "1", "--url", url)
        assert call(*words, "--out", str(tmp_path)) == 0
    text = (tmp_path / "capacity.json").read_text()
    found, policy = json.loads(text), read_capacity(text)
    assert 20 < found["documents_per_second"] < 1.15 * found["saturated_documents_per_second"] < 400
    assert policy.tokens_per_second == pytest.approx(40 * policy.documents_per_second)
    assert found["p99_ms"] <= 400
    assert [trial["word"] for trial in found["knee"]].count("holds") >= 1


def test_nothing_is_reported_when_the_generator_was_the_bottleneck(tmp_path: Path) -> None:
    result = made_result()
    late = with_fields(result.summary.generator, problems=("a generator process used 97 % of a core",))
    bad = with_fields(result, summary=replace(result.summary, generator=late))
    with pytest.raises(NotTrusted, match="97 % of a core"):
        cli.finish(bad, tmp_path, [])
    assert (tmp_path / "requests.csv.gz").exists()
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("nonesuch",),
        ("smoke", "spike"),
        ("compare", "only-one"),
        ("compare", "no", "nowhere"),
        ("day", "quiet", "f"),
        ("smoke", "--assert", "speed>1"),
        ("deploy", "--url", "http://127.0.0.1:9"),
    ],
)
def test_used_wrongly_is_exit_code_2_with_a_sentence(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*words) == 2
    assert capsys.readouterr().err.startswith("gleaner loadtest: ")


def test_nobody_there_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("smoke", "--url", "http://127.0.0.1:9") == 1
    assert "nothing answers at http://127.0.0.1:9/extract" in capsys.readouterr().err
