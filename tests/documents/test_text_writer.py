from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.documents.document import UnreadReason
from service.documents.text_writer import TextWriter


def table(*rows: Iterable[str]) -> TextWriter:
    writer = TextWriter()
    for row in rows:
        writer.row_start()
        for cell in row:
            writer.cell_start()
            writer.block()
            writer.words(cell)
            writer.block()
        writer.row_end()
    return writer


def test_a_mark_stands_behind_what_is_written_and_changes_nothing_else() -> None:
    writer = table(["", "a"])
    writer.row_start()
    writer.cell_start()
    writer.mark("!")
    writer.row_end()
    writer.words("b ")
    writer.mark("?")
    writer.words("c")
    assert writer.result() == "\ta!\nb? c"
    writer = TextWriter()
    writer.mark("!")
    writer.line_break()
    writer.words("a")
    assert writer.result() == "!a"


def test_white_space_collapses_and_is_trimmed_at_line_ends() -> None:
    writer = TextWriter()
    writer.words("  a \n b ")
    writer.words(" c\xa0 ")
    writer.block()
    writer.words(" d ")
    assert writer.result() == "a b c\nd"


def test_a_line_break_counts_each_time_but_not_at_the_start() -> None:
    writer = TextWriter()
    writer.line_break()
    writer.words("a")
    writer.line_break()
    writer.line_break()
    writer.words("b")
    writer.line_break()
    writer.block()
    writer.words("c")
    assert writer.result() == "a\n\nb\nc"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["a", "b"], ["c", "d"]], "a\tb\nc\td"),
        ([["a", "", "c"]], "a\t\tc"),
        ([["a"], ["", "d"]], "a\n\td"),
        ([["a", ""], ["c"]], "a\nc"),
        ([["a"], ["", ""], ["c"]], "a\nc"),
    ],
)
def test_cells_are_separated_by_tabs_and_rows_by_newlines(rows: list[list[str]], expected: str) -> None:
    assert table(*rows).result() == expected


def test_a_table_in_a_cell_begins_in_the_cells_line() -> None:
    writer = TextWriter()
    writer.row_start()
    writer.cell_start()
    writer.words("a")
    writer.cell_start()
    writer.row_start()
    for inner in ("b", "c"):
        writer.cell_start()
        writer.words(inner)
    writer.row_end()
    writer.cell_start()
    writer.words("d")
    writer.row_end()
    assert writer.result() == "a\tb\tc\td"


@pytest.mark.parametrize(
    ("text", "expected", "struck"),
    [
        ("a5\u03360\u0336b", "ab", 2),
        ("e\u0301\u0336x", "x", 2),
        ("\u0336\u0336x\u0335", "x\u0335", 0),
        ("a\uffff1\uffff\u0336b", "a\uffff1\uffffb", 0),
    ],
)
def test_characters_that_are_struck_out_are_left_out_and_counted(text: str, expected: str, struck: int) -> None:
    writer = TextWriter()
    writer.words(text)
    left_out: Counter[UnreadReason] = Counter()
    assert writer.result(left_out) == writer.result() == expected
    assert left_out[UnreadReason.STRUCK] == struck


OPERATIONS = ["row_start", "row_end", "cell_start", "block", "line_break", "word", "blank"]


@given(st.lists(st.sampled_from(OPERATIONS)))
def test_no_order_of_events_breaks_it_or_loses_a_word(operations: list[str]) -> None:
    writer = TextWriter()
    for operation in operations:
        if operation in ("word", "blank"):
            writer.words(" " if operation == "blank" else "w")
        else:
            getattr(writer, operation)()
    text = writer.result()
    assert text.count("w") == operations.count("word")
    assert text == text.rstrip()
    assert writer.characters == len(text)
