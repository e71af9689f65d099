"""`gleaner evaluate`: a real engine over a model's folder, and what it refuses before one is started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.service import environment
from tests.support.tiny_models import make_model

COMMAND = [sys.executable, "-m", "service.cli", "evaluate"]
LIMIT_SECONDS = 240.0
TEXT = "Anna Smith paid the invoice in Berlin"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder `tiny`, and the set `letters` of six groups with a document that holds nothing."""
    home = tmp_path_factory.mktemp("home")
    make_model(home / "tiny")
    truth = [{"start": 0, "end": 10, "label": "PER"}, {"start": 31, "end": 37, "label": "LOC"}]
    records = [{"text": TEXT, "entities": truth, "lang": "en", "group": f"g{number % 6}"} for number in range(12)]
    lines = [*records, {"text": " ", "entities": [], "group": "g0"}]
    (home / "letters.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return home


def evaluate(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    ended = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(home, DTYPE="float32") | {"TMPDIR": str(temporary)},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert list(temporary.iterdir()) == [], "something was left in the temporary folder"
    assert "Traceback" not in ended.stderr
    return ended


def test_a_folder_is_scored_as_it_would_be_served(home: Path) -> None:
    ended = evaluate(home, "tiny", "letters.jsonl", "--out", "report.json")
    assert ended.returncode == 0, ended.stderr
    report: dict[str, Any] = json.loads((home / "report.json").read_text())
    (found,) = report["sets"]
    assert (report["model"], found["name"], found["documents"]) == ("evaluated@stable", "letters", 13)
    assert (found["rates"]["gold"], found["rates"]["groups"]) == (24, 6)
    assert report["tokens"] > 0
    assert "letters (13 of 13 done)" in ended.stderr or "letters (1 of 13 done)" in ended.stderr
    assert "letters" in ended.stdout
    assert "PER" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        (("tiny", "missing.jsonl"), "cannot be read", 1),
        (("tiny", "letters.jsonl", "--sets", "other"), "there is no other", 2),
        (("tiny", "letters.jsonl", "--limit", "0"), "--limit", 2),
        (("tiny", "letters.jsonl", "--left-out", "100"), "--left-out", 2),
        (("tiny", "letters.jsonl", "--out", "nowhere/report.json"), "no folder", 2),
        (("tiny", "letters.jsonl", "--mapping", "letters.jsonl"), "letters.jsonl", 1),
        (("nobody", "letters.jsonl", "--limit", "3"), "nobody", 1),
        (("./tmp", "letters.jsonl"), "cannot be taken as a model", 1),
    ],
)
def test_what_cannot_be_scored_is_one_message(home: Path, arguments: tuple[str, ...], words: str, status: int) -> None:
    ended = evaluate(home, *arguments)
    assert ended.returncode == status
    assert words in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("gleaner: ")


def test_json_is_printed_where_it_is_asked_for(home: Path) -> None:
    ended = evaluate(home, "tiny", "letters.jsonl", "--limit", "2", "--left-out", "50", "--json")
    assert json.loads(ended.stdout)["documents"] == 2
