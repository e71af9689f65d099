"""Cells of lines: their places in points, tabs or characters, and which of two lines stand in one column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from service.core.fields.cells import Cell, Extents, PlaceUnit, Row, Span, cell_spans, in_column, nearest, row_of

POINTS = {"Net": (10, 30), "VAT 5 %": (100, 140), "Due": (200, 220), "9": (25, 30), "1": (120, 140), "10": (300, 320)}


def placed(text: str, places: Mapping[str, tuple[float, float]]) -> Extents:
    def extents(spans: Sequence[Span]) -> list[tuple[float, float]]:
        return [places.get(text[slice(*span)], (math.nan, math.nan)) for span in spans]

    return extents


def rows(text: str, places: Mapping[str, tuple[float, float]] | None = None) -> list[Row]:
    border = text.index("\n")
    extents = placed(text, places) if places else None
    return [row_of(text, 0, border, extents), row_of(text, border + 1, len(text), extents)]


def shown(text: str, cell: Cell | None) -> str | None:
    return text[cell.start : cell.end] if cell else None


def test_tabs_and_several_spaces_separate_cells() -> None:
    text = "  one two\tthree   four\nfive"
    assert [text[slice(*span)] for span in cell_spans(text, 0, len(text))] == ["one two", "three", "four", "five"]


@pytest.mark.parametrize(
    ("text", "places", "unit"),
    [
        ("Net  Due", None, PlaceUnit.CHARACTERS),
        ("Net\tDue", None, PlaceUnit.TABS),
        ("Net\tDue", POINTS, PlaceUnit.POINTS),
        ("Due\tNet", POINTS, PlaceUnit.TABS),
        ("Net\tDue\tunknown", POINTS, PlaceUnit.TABS),
        ("", POINTS, PlaceUnit.CHARACTERS),
    ],
)
def test_a_row_has_the_best_unit_that_all_of_its_cells_have(
    text: str, places: dict[str, tuple[float, float]] | None, unit: PlaceUnit
) -> None:
    assert row_of(text, 0, len(text), placed(text, places) if places else None).unit is unit


@pytest.mark.parametrize(
    ("text", "places", "of", "cell"),
    [
        ("Net\tVAT 5 %\tDue\n9\t1", POINTS, "1", "VAT 5 %"),
        ("Net\tVAT 5 %\tDue\n9\t1", POINTS, "9", "Net"),
        ("Net\tVAT 5 %\tDue\n9\t10", POINTS, "10", None),
        ("Net\tDue\n9\t10", POINTS, "10", "Due"),
        ("Net\tVAT\tDue\n\t\t10", None, "10", "Due"),
        ("Net\tVAT\tDue\n9\t10", None, "10", None),
        ("Net  VAT\n9\t10", None, "10", "VAT"),
        ("Net   VAT   Due\n      1.00", None, "1.00", "VAT"),
        ("Net   VAT   Due\n9      1.00", None, "1.00", "VAT"),
        ("Net\n          9  1", None, "9", None),
        ("\n9", None, "9", None),
    ],
)
def test_the_cell_above_in_the_column(
    text: str, places: dict[str, tuple[float, float]] | None, of: str, cell: str | None
) -> None:
    above, row = rows(text, places)
    own = row.at(text.rindex(of))
    assert own is not None
    assert shown(text, in_column(own, row, above)) == cell


@pytest.mark.parametrize(
    ("text", "places", "of", "cell"),
    [
        ("Net\tVAT 5 %\tDue\n9\t1\t10", POINTS, "1\t", "VAT 5 %"),
        ("Net\tVAT 5 %\n9\t10", POINTS | {"10": (900, 920)}, "10", "VAT 5 %"),
        ("Net\tVAT\n9\t1\t10", None, "10", "VAT"),
        ("Net  VAT\n9          1     10", None, "10", "VAT"),
        ("\n9\t1", None, "9", None),
        ("\n9  1", None, "9", None),
    ],
)
def test_the_nearest_cell_above(
    text: str, places: dict[str, tuple[float, float]] | None, of: str, cell: str | None
) -> None:
    above, row = rows(text, places)
    own = row.at(text.rindex(of))
    assert own is not None
    assert shown(text, nearest(own, row, above)) == cell


def test_an_offset_between_cells_is_in_none() -> None:
    row = row_of("Net  Due", 0, 8)
    assert row.at(4) is None
    assert row.at(5) == Cell(5, 8, 5, 8)
