"""`gleaner redact`: a real engine for a few files; what is written, reported and left alone."""

from __future__ import annotations

import json
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.cli import main
from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT
from tests.support.local_http import Call, Reply, http_server, json_reply
from tests.support.redacted_pdfs import left_of
from tests.support.service import environment
from tests.support.tiny_models import make_model

COMMAND = [sys.executable, "-m", "service.cli", "redact"]
LINE = "Anna Smith paid the invoice in Berlin"


@pytest.fixture(scope="module")
def redacted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, dict[str, dict[str, Any]], str]:
    """The folder, exit code, the JSON line of each file, and stderr of one command."""
    home = tmp_path_factory.mktemp("home")
    publish(make_model(home / "tiny"), "tiny", Store(home / "store"))
    (home / "a.txt").write_text(TEXT)
    (home / "b.pdf").write_bytes(simple_pdf(LINE))
    (home / "c.html").write_text(f"<p>{TEXT}</p>")
    (home / "broken.pdf").write_bytes(b"%PDF-1.7\ngarbage")
    names = ("a.txt", "b.pdf", "c.html", "broken.pdf", "missing.txt")
    ended = subprocess.run(
        [*COMMAND, *names, "--mode", "mask", "--only-found"],
        env=environment(home, MODELS="tiny", DTYPE="float32"),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    lines = {line["file"]: line for line in map(json.loads, ended.stdout.splitlines())}
    return home, ended.returncode, lines, ended.stderr


Run = tuple[Path, int, dict[str, dict[str, Any]], str]


def test_what_is_redacted_is_written_beside_its_file(redacted: Run) -> None:
    home, _, lines, errors = redacted
    assert lines["a.txt"]["written"] == "a.redacted.txt", errors
    text = (home / "a.redacted.txt").read_text()
    assert len(text) == len(TEXT)
    for part in lines["a.txt"]["entities"]:
        assert set(text[part["start"] : part["end"]]) == {"*"}
    assert (home / "a.txt").read_text() == TEXT


def test_a_pdf_comes_back_as_a_pdf(redacted: Run) -> None:
    home, _, lines, _ = redacted
    went = [LINE[part["start"] : part["end"]] for part in lines["b.pdf"]["entities"]]
    assert went
    assert left_of((home / "b.redacted.pdf").read_bytes(), *went) == {}


def test_what_fails_is_reported_and_not_written(redacted: Run) -> None:
    home, code, lines, errors = redacted
    assert code == 1
    assert {name for name, line in lines.items() if line["error"]} == {"c.html", "broken.pdf", "missing.txt"}
    assert "output=text" in errors
    assert sorted(path.name for path in home.glob("*.redacted.*")) == ["a.redacted.txt", "b.redacted.pdf"]
    assert "Traceback" not in errors


def test_standard_input_is_redacted_to_standard_output(redacted: Run) -> None:
    home, data = redacted[0], simple_pdf(LINE)
    ended = subprocess.run(
        [*COMMAND, "-", "--only-found"],
        input=data,
        env=environment(home, MODELS="tiny", DTYPE="float32"),
        cwd=home,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(b"%PDF")
    assert ended.stdout != data
    report = json.loads(ended.stderr)
    assert report["file"] == "-"
    assert report["entities"]


def test_text_of_standard_input_is_sent_as_what_it_is_said_to_hold(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """To a server, which needs no seconds to start."""
    bodies: list[bytes] = []

    def service(call: Call) -> Reply:
        bodies.append(call.body)
        entity = {"label": "PER", "start": 0, "end": 10}
        return json_reply({"documents": [{"text": "<PER> paid", "file": None, "entities": [entity], "error": None}]})

    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(TEXT.encode())))
    with http_server(service) as url:
        assert main(["redact", "-", "--type", "txt", "--only-found", "--url", url]) == 0
    assert TEXT.encode() in bodies[0]
    assert b"stdin.txt" in bodies[0]
    shown = capsysbinary.readouterr()
    assert shown.out == b"<PER> paid"
    report = json.loads(shown.err)
    assert report["file"] == "-"
    assert report["entities"]


def test_standard_input_is_redacted_alone(redacted: Run) -> None:
    command = [*COMMAND, "-", "a.txt", "--url", "localhost:9"]
    ended = subprocess.run(command, cwd=redacted[0], capture_output=True, text=True, timeout=60, input="", check=False)
    assert ended.returncode == 2
    assert "alone" in ended.stderr
