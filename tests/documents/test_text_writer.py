from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.documents.text_writer import TextWriter


def table(*rows: Iterable[str]) -> TextWriter:
    flow = TextWriter()
    for row in rows:
        flow.row_start()
        for cell in row:
            flow.cell_start()
            flow.block()
            flow.words(cell)
            flow.block()
        flow.row_end()
    return flow


def test_white_space_collapses_and_is_trimmed_at_line_ends() -> None:
    flow = TextWriter()
    flow.words("  a \n b ")
    flow.words(" c\xa0 ")
    flow.block()
    flow.words(" d ")
    assert flow.result() == "a b c\nd"


def test_a_line_break_counts_each_time_but_not_at_the_start() -> None:
    flow = TextWriter()
    flow.line_break()
    flow.words("a")
    flow.line_break()
    flow.line_break()
    flow.words("b")
    flow.line_break()
    flow.block()
    flow.words("c")
    assert flow.result() == "a\n\nb\nc"


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
    flow = TextWriter()
    flow.row_start()
    flow.cell_start()
    flow.words("a")
    flow.cell_start()
    flow.row_start()
    for inner in ("b", "c"):
        flow.cell_start()
        flow.words(inner)
    flow.row_end()
    flow.cell_start()
    flow.words("d")
    flow.row_end()
    assert flow.result() == "a\tb\tc\td"


OPERATIONS = ["row_start", "row_end", "cell_start", "block", "line_break", "word", "blank"]


@given(st.lists(st.sampled_from(OPERATIONS)))
def test_no_order_of_events_breaks_it_or_loses_a_word(operations: list[str]) -> None:
    flow = TextWriter()
    for operation in operations:
        if operation in ("word", "blank"):
            flow.words(" " if operation == "blank" else "w")
        else:
            getattr(flow, operation)()
    text = flow.result()
    assert text.count("w") == operations.count("word")
    assert text == text.rstrip()
    assert flow.characters == len(text)
