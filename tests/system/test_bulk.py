"""`gleaner bulk` with engines and commands that are killed: one row for each file, the same bytes as without."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.bulk import job as jobs
from service.bulk.job import JobRecord
from service.bulk.storage import FolderStorage
from service.core.bulk import BulkJob
from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT, random_texts
from tests.support.processes import children_of, command_of, inherited
from tests.support.service import environment, wait_until
from tests.support.tiny_models import make_model

COMMAND = [sys.executable, "-m", "service.cli", "bulk"]
END_SECONDS = 240.0
TEXTS = 600
PACE, SLOW_PACE = 3_000, 1_500
"""Tokens per second: the texts take several seconds, and a long document longer than the test."""
LAUGHS = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><a>&b;</a>'
BAD = {
    "broken.pdf": b"%PDF-1.7\ngarbage",
    "empty.txt": b"",
    "random.bin": random.Random(3).randbytes(4_000),
    "deep.html": b"<div>" * 50_000,
    "laughs.xml": LAUGHS.encode(),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with `tiny`, and a folder of texts among bad and hostile files."""
    home = tmp_path_factory.mktemp("home")
    publish(make_model(home / "tiny"), "tiny", Store(home / "store"))
    (home / "in/more").mkdir(parents=True)
    for number, text in enumerate(random_texts(TEXTS, seed=5)):
        (home / "in" / f"{'more/' * (number % 3 == 0)}{number:04}.txt").write_text(f"{text} {TEXT}")
    for name, data in BAD.items():
        (home / "in" / name).write_bytes(data)
    (home / "in/0000-good.pdf").write_bytes(simple_pdf(TEXT))
    (home / "tmp").mkdir()
    other = JobRecord(BulkJob("tiny@sha256:ab", {}), None, (str(home / "in"),))
    jobs.begin(FolderStorage(home / "other"), other)
    return home


@contextmanager
def bulk(home: Path, *arguments: str, pace: int = PACE, **settings: object) -> Iterator[subprocess.Popen[str]]:
    """The command, until the context ends; its stderr is in `stderr.txt`."""
    variables = environment(home, MODELS="tiny", DTYPE="float32", PACE_TOKENS_PER_SECOND=pace, **settings)
    with (home / "stderr.txt").open("w") as errors:
        process = subprocess.Popen(
            [*COMMAND, *arguments], env=variables | {"TMPDIR": str(home / "tmp")}, cwd=home, text=True, stderr=errors
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "parts").glob("*")}


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for data in _parts(folder).values() for line in data.splitlines()]


def _kill_engine(command: int, how: signal.Signals = signal.SIGKILL) -> None:
    for child in children_of(command):
        if "service.engine" in command_of(child):
            os.kill(child, how)


@pytest.mark.timeout(1200)
def test_killed_again_and_again_it_leaves_the_same_parts(home: Path) -> None:
    with bulk(home, "in", "whole") as process:
        assert process.wait(END_SECONDS) == 1, (home / "stderr.txt").read_text()
    rows = _rows(home / "whole")
    files = [path for path in (home / "in").rglob("*") if path.is_file()]
    assert sorted(row["key"] for row in rows) == sorted(str(path.relative_to(home / "in")) for path in files)
    failed = {row["key"]: row["error"]["code"] for row in rows if row["error"] is not None}
    assert set(failed) <= set(BAD)
    assert set(failed) >= {"broken.pdf", "random.bin"}

    chance, killed = random.Random(11), Counter[str]()
    for victim in ("command", "engine"):
        with bulk(home, "in", "killed") as process:
            there = len(_parts(home / "killed"))
            wanted = there + chance.randint(0 if killed else 1, 2)
            wait_until(lambda wanted=wanted: len(_parts(home / "killed")) >= wanted, END_SECONDS)  # type: ignore[misc]
            assert process.poll() is None, (home / "stderr.txt").read_text()
            if victim == "engine":
                _kill_engine(process.pid)
                wait_until(lambda there=wanted: len(_parts(home / "killed")) > there, END_SECONDS)  # type: ignore[misc]
            process.kill()
            killed[victim] += 1
    with bulk(home, "in", "killed") as process:
        assert process.wait(END_SECONDS) == 1, (home / "stderr.txt").read_text()
    assert _parts(home / "killed") == _parts(home / "whole")
    assert (home / "killed/summary.json").read_bytes() == (home / "whole/summary.json").read_bytes()
    assert killed == {"command": 1, "engine": 1}


def test_a_file_over_which_engines_die_is_a_row_of_its_own(home: Path) -> None:
    (home / "poison").mkdir()
    for number in range(300):
        (home / "poison" / f"{number:03}.txt").write_text(f"{number} {TEXT}")
    (home / "poison/000-long.txt").write_text(TEXT * 12_000)
    with bulk(home, "poison", "out", "--in-flight", "8", pace=SLOW_PACE) as process:
        for count in range(1, 7):
            wait_until(lambda n=count: process.poll() is not None or len(_parts(home / "out")) >= n, END_SECONDS)  # type: ignore[misc]
            if count < 6:
                _kill_engine(process.pid)
        process.wait(END_SECONDS)
        assert process.returncode == 1, (home / "stderr.txt").read_text()
    errors = {row["key"]: row["error"] and row["error"]["code"] for row in _rows(home / "out")}
    assert len(errors) == 301
    assert {key: code for key, code in errors.items() if code} == {"000-long.txt": "poison_document"}


def test_an_engine_that_hangs_is_replaced_and_no_file_is_lost(home: Path) -> None:
    with bulk(home, "in", "hung", ENGINE_SILENCE_SECONDS=8) as process:
        wait_until(lambda: bool(_parts(home / "hung")), END_SECONDS)
        _kill_engine(process.pid, signal.SIGSTOP)
        assert process.wait(END_SECONDS) == 1, (home / "stderr.txt").read_text()
    assert "stopped or stuck, and is killed" in (home / "stderr.txt").read_text()
    files = [path for path in (home / "in").rglob("*") if path.is_file()]
    assert len(_rows(home / "hung")) == len(files)
    assert {row["key"] for row in _rows(home / "hung") if row["error"]} <= set(BAD)


def test_ctrl_c_ends_it_soon_and_says_how_to_go_on(home: Path) -> None:
    with inherited(signal.SIGINT, signal.SIG_DFL), bulk(home, "in", "interrupted") as process:
        wait_until(lambda: bool(_parts(home / "interrupted")), END_SECONDS)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    said = (home / "stderr.txt").read_text()
    assert "Call the same command again" in said
    assert "Traceback" not in said
    assert list((home / "tmp").iterdir()) == []


def test_texts_in_lines_are_answered_under_their_ids(home: Path) -> None:
    lines = [json.dumps({"id": f"text {number}", "text": text}) for number, text in enumerate(random_texts(20, seed=6))]
    (home / "texts.jsonl").write_text("\n".join(lines))
    with bulk(home, "run", "texts.jsonl", "lines", "--lines", "--per-file", "--include-text") as process:
        assert process.wait(END_SECONDS) == 0, (home / "stderr.txt").read_text()
    rows = [json.loads(line) for line in (home / "lines/documents.jsonl").read_text().splitlines()]
    assert [row["key"] for row in rows] == [f"texts.jsonl#text {number}" for number in range(20)]
    assert [row["document"]["text"] for row in rows] == random_texts(20, seed=6)
    assert [row["document"]["id"] for row in rows][:2] == ["text 0", "text 1"]
    assert json.loads((home / "lines/documents/texts.jsonl#text 7.json").read_text()) == rows[7]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere", "out1"), "There is no nowhere"),
        (("in", "in/out"), "within the input"),
        (("in", "other", "--fields"), "started with the options"),
        (("in", "out2", "--min-score", "7"), "min_score"),
    ],
)
def test_wrong_usage_is_one_sentence(home: Path, arguments: tuple[str, ...], words: str) -> None:
    with bulk(home, *arguments) as process:
        assert process.wait(END_SECONDS) == 2
    said = (home / "stderr.txt").read_text()
    assert words in said
    assert len(said.splitlines()) == 1
