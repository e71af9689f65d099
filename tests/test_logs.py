"""Every log line is one JSON object, whatever is in it."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.logs import JsonLines, PlainLines


def line(message: str, *values: object, level: int = logging.INFO, **extra: object) -> str:
    record = logging.LogRecord("a.logger", level, "file.py", 1, message, values, None)
    vars(record).update(extra)
    return JsonLines().format(record)


def test_a_line_has_time_level_logger_process_and_message() -> None:
    found = json.loads(line("%d files", 3, level=logging.WARNING, request_id="r"))
    assert (found["level"], found["logger"], found["message"], found["request_id"]) == (
        "warning",
        "a.logger",
        "3 files",
        "r",
    )
    assert datetime.fromisoformat(found["time"]).tzinfo is not None
    assert isinstance(found["process"], int)


def test_no_line_end_of_any_kind_is_within_a_line_and_its_words_come_back() -> None:
    """`str.splitlines` and some readers of logs break lines at more than a line feed."""
    message = "a\u0085b\u2028c\u2029d\x7fe\x1cf ä 北"
    found = line(message)
    assert len(found.splitlines()) == 1
    assert json.loads(found)["message"] == message
    assert "ä 北" in found


@given(st.text(), st.dictionaries(st.sampled_from(["path", "reason", "count"]), st.text() | st.floats() | st.none()))
def test_any_record_is_one_line_of_json(message: str, extra: dict[str, Any]) -> None:
    text = line(message.replace("%", "%%"), **extra)
    assert "\n" not in text
    assert json.loads(text)["message"] == message.replace("%", "%%")


def text_line(message: str, *, level: int = logging.INFO, **extra: object) -> str:
    record = logging.LogRecord("a.logger", level, "file.py", 1, message, (), None)
    vars(record).update(extra)
    return PlainLines().format(record)


def test_a_line_of_text_has_time_level_message_and_fields() -> None:
    found = text_line("the engine died", level=logging.ERROR, event="engine_died", exit_code=-9, part="a b")
    assert re.fullmatch(r'\d\d:\d\d:\d\d error   the engine died  exit_code=-9  part="a b"', found)


@pytest.mark.parametrize("message", ["a\nb", "a\r\x1b[2Jb", "a\u2028b", "a\x00\x9bb"])
def test_a_line_of_text_cannot_steer_a_terminal(message: str) -> None:
    for found in (text_line(message), text_line("x", path=message)):
        assert found.isprintable()
        assert len(found.splitlines()) == 1


TERMINAL = """
import logging
from service.logs import configure
configure("INFO")
logging.getLogger("part").warning("oh")
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_text_and_a_pipe_json(terminal: bool) -> None:
    ours, theirs = pty.openpty() if terminal else os.pipe()
    subprocess.run([sys.executable, "-c", TERMINAL], stderr=theirs, check=True, timeout=60)
    found = os.read(ours, 4096).decode().strip()
    os.close(ours)
    os.close(theirs)
    assert found.startswith("{") is not terminal
    assert "oh" in found


PROGRAM = """
import logging, warnings
from service.logs import configure
configure("INFO")
log = logging.getLogger("part")
log.debug("not this")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("oh")
warnings.warn("careful")
logging.getLogger("httpx").info("nor this")
"""


def test_a_process_logs_json_on_stderr_with_exceptions_and_warnings_in_it() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    found = [json.loads(each) for each in ended.stderr.splitlines()]
    assert [each["logger"] for each in found] == ["part", "py.warnings"]
    assert "ZeroDivisionError" in found[0]["exception"]
    assert "careful" in found[1]["message"]
    assert ended.stdout == ""


LIBRARIES = """
import logging
from service.logs import configure
configure("DEBUG")
for ours in ("service.part", "model_store.remote", "gleaner.access", "__main__"):
    logging.getLogger(ours).debug("ours")
for library in ("a.library", "botocore.auth", "urllib3.connectionpool", "uvicorn.error", "gunicorn.error", "multipart"):
    logging.getLogger(library).debug("Authorization: a credential")
"""


def test_at_debug_our_own_lines_are_logged_and_those_of_libraries_are_not() -> None:
    ended = subprocess.run([sys.executable, "-c", LIBRARIES], capture_output=True, text=True, check=True, timeout=60)
    found = [json.loads(each) for each in ended.stderr.splitlines()]
    assert [each["message"] for each in found] == ["ours"] * 4
