"""Terminal output: what came from elsewhere is shown, and steers nothing."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from service.cli import main
from service.client.errors import GleanerError
from service.terminal import PrintableStream, draw, printable, printable_output, say

TITLE, CLEAR, CSI, BACK, TURN, HALF = "\x1b]0;pwned\x07", "\x1b[2J", "\x9b2J", "files\rnone", "\u202egpj.exe", "\udcff"
HOSTILE = [TITLE, CLEAR, CSI, BACK, TURN, HALF, "\x08\x08", "\x7f", "\u2066a", "\u2028b", "\x0e", "a\x00"]


def steers(text: str) -> bool:
    """True if a terminal would obey a character of a text."""
    return any(c != "\n" and not c.isprintable() for c in text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_what_a_terminal_would_obey_is_printed_as_json_writes_it(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with printable_output():
        print(text)
        print(json.dumps({"code": text}, ensure_ascii=False), file=sys.stderr)
        sys.stdout.writelines([text, "\n"])
    shown = capsys.readouterr()
    assert not steers(shown.out)
    assert not steers(shown.err)
    assert json.loads(shown.err) == {"code": text}


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_drawn_tables_and_texts_steer_no_terminal(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(text, title=text)
    table.add_row(text)
    table.add_row(Text(text))
    draw(table)
    draw(Text(text))
    assert not steers(capsys.readouterr().out)


def test_words_of_a_document_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("[b]", title="[/red]")
    table.add_row("[/b] :smile: [link=http://x]y")
    draw(table)
    shown = capsys.readouterr().out
    assert all(each in shown for each in ("[/b] :smile: [link=http://x]y", "[b]", "[/red]"))


def test_names_break_no_line_and_words_of_all_scripts_stay(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\nfiles 9 of 9\tb")
    assert capsys.readouterr().err == "gleaner: a\\nfiles 9 of 9\\tb\n"
    for words in ("Größe – 12 €", "東京\u3000都", "مرحبا", "अ\u200dब", "a\u00a0b", "👩\u200d🔬", "\\u001b"):
        assert printable(words) == words


def test_lines_and_tabs_of_our_own_stay_and_the_stream_is_the_same() -> None:
    below = io.TextIOWrapper(io.BytesIO())
    stream = PrintableStream(below)
    assert stream.write("a\tb\n\x1b") == 5
    assert stream.buffer is below.buffer
    stream.flush()
    assert below.buffer.getvalue() == b"a\tb\n\\u001b"


def test_rich_draws_with_codes_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    with printable_output():
        Console(force_terminal=True).print(Text("red", style="red"))
    assert "\x1b[31m" in capsys.readouterr().out


def test_a_command_s_errors_are_printable(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["bulk", str(tmp_path / CLEAR), str(tmp_path / "out")]) == 2
    assert main(["extract", "--url", "http://127.0.0.1:1", str(tmp_path / TITLE)]) != 0
    assert not steers(capsys.readouterr().err)


def test_an_error_of_the_client_is_printable_and_its_detail_as_it_came() -> None:
    error = GleanerError(f"no\n{TITLE}")
    assert str(error) == "no\\n\\u001b]0;pwned\\u0007"
    assert error.detail == f"no\n{TITLE}"
