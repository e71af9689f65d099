"""Descriptions of rows: whole cells, rows that the model missed, and lines that are none."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.core.fields.descriptions import description_spans
from service.core.fields.keyword_values import amount_spans
from service.core.fields.lines import TextLines
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

HEAD = "Pos.\tItem\tQty\tPrice\tAmount\n"


def descriptions(text: str, *found: str, counts: tuple[str, ...] = (), dates: tuple[str, ...] = ()) -> list[str]:
    """Find the descriptions in a text with these values of the model, each at its last place."""
    context = DocumentContext(text)
    parts = sorted(
        (text.rindex(part), part, label)
        for label, some in (("LINE_ITEM", found), ("QUANTITY", counts), ("DATE", dates))
        for part in some
    )
    entities = [Entity(label, part, start, start + len(part), 0.9) for start, part, label in parts]
    sums = list(amount_spans(lambda label, part: read_value(label, part, context), text))
    return [text[start:end] for start, end in description_spans(TextLines(text), entities, sums)]


@pytest.mark.parametrize(
    ("text", "items", "whole"),
    [
        ("Labels 48 x 17 mm, 100 sheets\t3\t14.80", ["sheets"], ["Labels 48 x 17 mm, 100 sheets"]),
        ("Labels 48 x 17 mm, 100 sheets\t3\t14.80", ["Labels", "sheets"], ["Labels 48 x 17 mm, 100 sheets"]),
        ("12 Labels, white\t14.80", ["Labels"], ["Labels, white"]),
        ("Conference Fee $190.00\t1", ["Conference"], ["Conference Fee"]),
        ("Kilometergeld zu 0,30 EUR   60,00 EUR", ["Kilometergeld"], ["Kilometergeld"]),
        ("2 x 6,49 Tea\t12,98", ["Tea"], ["Tea"]),
        ("Milk\t1.49\tEspresso\t2.40", ["Milk", "Espresso"], ["Milk", "Espresso"]),
        ("Hex bolt M8\t1200\tEA 0.15", ["Hex bolt M8", "EA"], ["Hex bolt M8"]),
        ("We thank you for the steak and hope that you will come again", ["steak"], ["steak"]),
        ("Steak and\nchips\t4.00", ["Steak and\nchips"], ["Steak and\nchips"]),
        ("CASH\t20.00", ["CASH"], []),
        ("x" * 300 + " Steak 2.00", ["Steak"], ["Steak"]),
    ],
)
def test_a_description_is_the_cell_of_the_items(text: str, items: list[str], whole: list[str]) -> None:
    assert descriptions(text, *items) == whole


def test_a_quantity_before_a_sum_of_the_same_cell_ends_the_description() -> None:
    assert descriptions("Beratung 10 Std. zu 120,00   1.200,00", "Beratung", counts=("10 Std.",)) == ["Beratung"]
    assert descriptions("Tea, 100 bags\t8.25", "Tea", counts=("100",)) == ["Tea, 100 bags"]


@pytest.mark.parametrize(
    ("rows", "items", "found"),
    [
        ("1\tMount\t2\t4.00\t8.00\n2\tLens\t1\t5.00\t5.00", ["Mount"], ["Mount", "Lens"]),
        ("1\tMount\t2\t4.00\t8.00\n\tfor the lens\t\t\t", ["Mount"], ["Mount"]),
        ("1\tMount\t2\t4.00\t8.00\n\tTotal\t\t\t8.00\n2\tLens\t1\t5.00\t5.00", ["Mount"], ["Mount"]),
        ("1\tMount\t2\t4.00\t8.00\n\tplease pay\t\tTotal\t8.00\n2\tLens\t1\t5.00\t5.00", ["Mount"], ["Mount"]),
        ("1\tTotal Recall, film\t2\t4.00\t8.00", [], ["Total Recall, film"]),
        ("1\tless deposit\t\t\t-8.00\n2\tLens\t1\t5.00\t5.00", [], []),
        ("8544\tCopper wire\t2\t4.00\t8.00", ["8544"], ["Copper wire"]),
        ("1\t3 day ticket\t2\t4.00\t8.00", [], ["day ticket"]),
        ("1\tMount\t\t\t8.00", [], []),
        ("1\tCash\t1\t\t8.00", ["Cash"], []),
        ("\tTotal\t7\t\t8.00\n2\tLens\t1\t5.00\t5.00", [], []),
        ("1\t\t2\t4.00\t8.00", [], []),
        ("1\tCarried forward\t1\t\t8.00", [], []),
        (
            "1\tMount, large,\nwith a foot\t2\t4.00\t8.00",
            ["Mount, large,\nwith a foot"],
            ["Mount, large,\nwith a foot"],
        ),
    ],
)
def test_the_column_of_goods_has_the_descriptions(rows: str, items: list[str], found: list[str]) -> None:
    assert descriptions(HEAD + rows, *items) == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("Team plan\nAug 3 – Sep 3, 2026\t3\t18.00\t54.00", ["Team plan\nAug 3 – Sep 3, 2026"]),
        ("Plan Aug 3 – Sep 3, 2026\t3\t18.00\t54.00", ["Plan Aug 3 – Sep 3, 2026"]),
        ("Aug 3 – Sep 3, 2026\t3\t18.00\t54.00", ["Aug 3 – Sep 3, 2026"]),
        ("Team plan\nAug 3\tSep 3, 2026\t18.00\t54.00", ["Aug 3"]),
        ("Mount\t1\t4.00\t4.00\nAug 3 – Sep 3, 2026\t3\t18.00\t54.00", ["Aug 3 – Sep 3, 2026"]),
    ],
)
def test_a_period_is_no_description_below_words_alone(rows: str, found: list[str]) -> None:
    assert descriptions("Item\tQty\tPrice\tAmount\n" + rows, "Aug 3", dates=("Sep 3, 2026",))[-1:] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Item\tQty\tPrice\tAmount\n3 day ticket\t2\t4.00\t8.00", ["3 day ticket"]),
        ("Item\tQty\tPrice\nMount\t2\t4.00", []),
        ("Item\tAmount\nMount\t4.00", ["Mount"]),
        ("品名\t数量\t単価\t金額\n緑茶 500ml\t48\t110\t5,280", ["緑茶 500ml"]),
        ("Наименование\tКол-во\tЦена\tСумма\nЧай\t2\t3,00\t6,00", ["Чай"]),
    ],
)
def test_rows_are_found_below_a_head_alone(text: str, found: list[str]) -> None:
    assert descriptions(text) == found


@pytest.mark.parametrize(
    ("below", "found"),
    [
        ("Lens\t1\t5.00\nCap\t1\t2.00", ["Mount", "Lens", "Cap"]),
        ("Lens\t5.00", ["Mount"]),
        ("Lens\tone each\t5.00", ["Mount"]),
        ("Total\t3\t13.00", ["Mount"]),
        ("Lens\t1\tlater", ["Mount"]),
    ],
)
def test_a_line_with_the_cells_of_the_row_above_is_a_row(below: str, found: list[str]) -> None:
    assert descriptions(f"Mount\t2\t8.00\n{below}", "Mount") == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("Mount\t8.00\nRush fee\t5.00\nLens\t2.00", ["Mount", "Rush fee", "Lens"]),
        ("Mount\t8.00\nSubtotal\t8.00\nLens\t2.00", ["Mount", "Lens"]),
        ("Mount\t8.00\nRush fee\t5.00\n\nLens\t2.00", ["Mount", "Lens"]),
    ],
)
def test_a_line_of_two_cells_is_a_row_between_two_rows(lines: str, found: list[str]) -> None:
    assert descriptions(lines, "Mount", "Lens") == found


def test_a_row_above_is_found_by_its_neighbour() -> None:
    assert descriptions("Lens\t1\t5.00\nMount\t2\t8.00", "Mount") == ["Lens", "Mount"]


def test_a_unit_alone_is_no_description() -> None:
    assert descriptions("Lens\t1\t5.00\nszt.\t2\t8.00", "Lens", "szt.") == ["Lens"]
