"""`gleaner extract`: a real engine for a few files, JSON lines in a pipe, a table on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loadtest.service_process import KeptPort
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.commands.file_answers import record_tables
from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT
from tests.support.label_models import HOME, WITH_RECORDS
from tests.support.local_http import Call, Reply, http_server, json_reply
from tests.support.service import environment
from tests.support.tiny_models import make_model

COMMAND = [sys.executable, "-m", "service.cli", "extract"]
LIMIT_SECONDS = 240.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with `tiny`, and a folder of files: three good ones, a broken one."""
    home = tmp_path_factory.mktemp("home")
    publish(make_model(home / "tiny"), "tiny", Store(home / "store"))
    publish(make_model(home / "own", seed=1), "own", Store(home / "store"), tag="candidate")
    (home / "a.txt").write_text(TEXT)
    (home / "b.pdf").write_bytes(simple_pdf("Anna Smith paid"))
    (home / "c.html").write_text(f"<p>{TEXT}</p>")
    (home / "broken.pdf").write_bytes(b"%PDF-1.7\ngarbage")
    return home


def settings(home: Path) -> dict[str, str]:
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    return environment(home, MODELS="tiny", DTYPE="float32") | {"TMPDIR": str(temporary)}


def extract(home: Path, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, JSON lines and stderr of one command in a pipe."""
    ended = subprocess.run(
        [*COMMAND, *arguments],
        env=settings(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert list((home / "tmp").iterdir()) == [], "something was left in the temporary folder"
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()], ended.stderr


@pytest.fixture(scope="module")
def code_lines_errors(home: Path) -> tuple[int, list[dict[str, Any]], str]:
    """One engine for the files of several tests."""
    names = ("a.txt", "missing.txt", "b.pdf", "broken.pdf", "c.html")
    return extract(home, *names, "--include-text", "--aggregation", "simple")


Found = tuple[int, list[dict[str, Any]], str]


def test_in_a_pipe_each_file_is_a_json_line_in_the_order_given(code_lines_errors: Found) -> None:
    _, lines, _ = code_lines_errors
    assert [line["file"] for line in lines] == ["a.txt", "missing.txt", "b.pdf", "broken.pdf", "c.html"]
    good = [line for line in lines if line["error"] is None]
    assert [line["file"] for line in good] == ["a.txt", "b.pdf", "c.html"]
    for line in good:
        assert line["entities"]
        assert all(line["text"][e["start"] : e["end"]] == e["text"] for e in line["entities"])


def test_files_that_fail_are_reported_on_stderr_and_exit_1(code_lines_errors: Found) -> None:
    code, lines, errors = code_lines_errors
    assert code == 1
    assert "gleaner: missing.txt: The file cannot be read" in errors
    assert "gleaner: broken.pdf: " in errors
    assert {line["file"]: line["error"]["code"] for line in lines if line["error"]} == {
        "missing.txt": "unreadable_file",
        "broken.pdf": "unreadable_document",
    }
    assert "Traceback" not in errors


def test_a_folder_is_extracted_into_a_file_that_is_gone_on_with(home: Path) -> None:
    (home / "folder").mkdir()
    for name in ("x.txt", "y.txt"):
        (home / "folder" / name).write_text(TEXT)
    (home / "answers.jsonl").write_text('{"file": "folder/x.txt", "error": null}\n{"file": "folder/y.')
    arguments = ("folder", "--output", "answers.jsonl", "--unordered")
    assert extract(home, *arguments) == (0, [], "")
    lines = [json.loads(line) for line in (home / "answers.jsonl").read_text().splitlines()]
    assert [line["file"] for line in lines] == ["folder/x.txt", "folder/y.txt"]
    assert lines[1]["entities"]
    assert extract(home, *arguments, "--url", f"127.0.0.1:{KeptPort().number}") == (0, [], "")


@pytest.fixture(scope="module")
def free(home: Path) -> str:
    """The name of a model with free labels."""
    publish(HOME / WITH_RECORDS, "free", Store(home / "store"))
    return "free"


def test_records_are_those_of_a_schema_in_a_file(home: Path, free: str) -> None:
    (home / "schema.json").write_text('{"payment": ["payer", {"name": "sum", "kind": "money"}]}')
    arguments = ("a.txt", "--model", free, "--schema", "schema.json", "--min-score", "0.1")
    code, (line,), errors = extract(home, *arguments)
    assert (code, errors) == (0, "")
    assert all(list(each["fields"]) == ["payer", "sum"] for each in line["records"]["payment"])
    (table,) = record_tables(line["records"])
    assert (table.title, table.row_count) == ("payment", len(line["records"]["payment"]))
    assert list(record_tables({"payment": []})) == list(record_tables(None)) == []
    for broken in ("missing.json", "a.txt"):
        assert extract(home, "a.txt", "--schema", broken)[0] == 2


@pytest.mark.parametrize("with_labels", [False, True])
def test_on_a_terminal_it_is_a_table(home: Path, free: str, with_labels: bool) -> None:
    terminal, screen = pty.openpty()
    options = ["--model", free, "--labels", "person,date"] if with_labels else ["--aggregation", "simple"]
    with subprocess.Popen(
        [*COMMAND, "a.txt", *options],
        env=settings(home) | {"COLUMNS": "120", "TERM": "dumb"},
        cwd=home,
        stdout=screen,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    ) as process:
        os.close(screen)
        shown = _read(terminal)
        _, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, errors
    assert all(word in shown for word in ("a.txt", "label", "value", "score"))
    assert not shown.lstrip().startswith("{")


def _read(terminal: int) -> str:
    parts = []
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:  # How Linux says that the other end is closed.
        pass
    finally:
        os.close(terminal)
    return b"".join(parts).decode()


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [(("a.txt", "--model", "nobody"), "nobody", 1), (("a.txt", "--min-score", "2"), "min_score", 2)],
)
def test_a_bad_model_or_option_is_one_message_and_its_exit_code(
    home: Path, arguments: tuple[str, ...], words: str, status: int
) -> None:
    code, _, errors = extract(home, *arguments)
    assert code == status
    assert words in errors
    assert "Traceback" not in errors


def test_a_model_of_the_store_is_served_though_the_settings_do_not_name_it(home: Path) -> None:
    """It was refused as not served here, which is the command's own service."""
    code, lines, errors = extract(home, "a.txt", "--model", "own@candidate")
    assert (code, len(lines)) == (0, 1), errors
    assert lines[0]["entities"] != extract(home, "a.txt", "--model", "tiny")[1][0]["entities"]


def test_a_model_that_cannot_be_loaded_exits_1_and_leaves_no_files(home: Path) -> None:
    ended = subprocess.run(
        [*COMMAND, "a.txt"],
        env=settings(home) | {"GLEANER_MODELS": "nobody"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode == 1
    assert "nobody" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list((home / "tmp").iterdir()) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "127.0.0.1:{port}", "nonsense", "http://["])
def test_a_service_that_is_not_there_is_one_sentence_for_the_file(home: Path, url: str) -> None:
    nobody = KeptPort()
    code, lines, errors = extract(home, "a.txt", "--url", url.format(port=nobody.number))
    assert code == 1
    assert len(errors.splitlines()) == 1
    assert errors.startswith("gleaner: a.txt: ")
    assert [line["error"]["code"] for line in lines] == ["unreachable"]


def test_an_address_of_another_scheme_is_wrong_usage(home: Path) -> None:
    code, lines, errors = extract(home, "a.txt", "--url", "ftp://example.org")
    assert (code, lines, len(errors.splitlines())) == (2, [], 1)
    assert "ftp://example.org" in errors


@pytest.mark.parametrize("path", ["", "/list"])
def test_a_server_that_is_no_gleaner_is_reported(home: Path, path: str) -> None:
    with http_server(lambda _: json_reply(["hello"] if path else {"hello": 1})) as url:
        code, _, errors = extract(home, "a.txt", "--url", f"{url}{path}")
    assert code == 1
    assert "another service" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("key", [None, "secret"])
def test_a_key_is_sent_to_the_service(home: Path, tmp_path: Path, key: str | None) -> None:
    seen: list[str | None] = []

    def answer(call: Call) -> Reply:
        seen.append(call.headers["Authorization"])
        return json_reply({"hello": 1})

    arguments: list[str] = []
    if key is not None:
        (tmp_path / "key").write_text(f"{key}\n")
        arguments = ["--key-file", str(tmp_path / "key")]
    with http_server(answer) as url:
        extract(home, "a.txt", "--url", url, *arguments)
    assert seen == [None if key is None else f"Bearer {key}"]


def test_a_key_that_cannot_be_read_is_one_sentence(home: Path) -> None:
    code, _, errors = extract(home, "a.txt", "--url", "http://127.0.0.1:9", "--key-file", "nowhere")
    assert code == 2
    assert "nowhere" in errors
    assert "Traceback" not in errors


def echo(call: Call) -> Reply:
    """One document whose text is the request's body."""
    sent = call.body.decode(errors="replace")
    return json_reply({"documents": [{"id": "a", "entities": [], "error": None, "text": sent}]})


@pytest.mark.parametrize(("options", "name"), [((), 'filename="stdin"'), (("--type", "html"), 'filename="stdin.html"')])
def test_standard_input_goes_to_an_address_without_a_scheme(home: Path, options: tuple[str, ...], name: str) -> None:
    with http_server(echo) as url:
        command = [*COMMAND, "-", "--url", url.replace("http://127.0.0.1", "localhost"), *options]
        ended = subprocess.run(
            command, input=b"<p>Ida</p>", env=settings(home), capture_output=True, timeout=LIMIT_SECONDS, check=False
        )
    assert ended.returncode == 0, ended.stderr
    line = json.loads(ended.stdout)
    assert line["file"] == "-"
    assert name in line["text"]
    assert "<p>Ida</p>" in line["text"]


def test_standard_input_is_read_once(home: Path) -> None:
    code, lines, errors = extract(home, "-", "-", "--url", "localhost:9")
    assert (code, lines) == (2, [])
    assert "once" in errors
