"""Tables of goods: heads in several languages, the kinds of their columns, and the columns of values below."""

from __future__ import annotations

import pytest

from service.core.fields.columns import ColumnKind, find_tables, head_columns
from service.core.fields.lines import TextLines


@pytest.mark.parametrize(
    ("head", "kinds"),
    [
        ("Item\tQty\tRate\tAmount", "item quantity price amount"),
        ("Pos. Bezeichnung\tMenge\tEinzelpreis\tUSt\tGesamt", "other item quantity price tax amount"),
        ("Désignation  Qté  P.U. HT  TVA  Montant HT", "item quantity price tax amount"),
        ("Artikel\tAantal Prijs per stuk BTW Prijs incl. BTW", "item quantity price tax amount"),
        ("Beskrivning\tAntal\tÀ-pris\tBelopp", "item quantity price amount"),
        ("Popis\tMnožství\tCena za MJ\tCelkem", "item quantity price amount"),
        ("品名\t数量\t単価\t税率\t金額", "item quantity price tax amount"),
        ("Наименование\tКол-во\tЦена\tСумма", "item quantity price amount"),
        ("Description\tHSN\tQty\tRate\tDisc. %\tTaxable value", "item other quantity price discount amount"),
        ("Description\tAmount", "item amount"),
        ("Product description\tPrice incl. GST\tPrice/unit €\tSum", "item price price amount"),
        ("cheques payable financial services office\tTotal", ""),
        ("Maße Artikel\tMenge\tPreis", "item quantity price"),
        ("Net\tVAT 20 %\tTotal", ""),
        ("Date\tDue date", ""),
        ("The price of a service is the amount that was agreed in writing before delivery", ""),
        ("Item 5\tQty\tAmount", ""),
        ("", ""),
    ],
)
def test_heads_name_the_columns(head: str, kinds: str) -> None:
    assert " ".join(column.kind for column in head_columns(TextLines(head), 0)) == kinds


def test_a_table_has_rows_until_the_text_goes_on_without_cells() -> None:
    text = "Title\nItem\tQty\tAmount\nMount\t2\t9.00\nwith screws\nLens\t1\t5.00\n" + "Prose\n" * 12 + "a\tb"
    (table,) = find_tables(TextLines(text))
    assert (table.first, table.end) == (2, 5)


def test_a_line_without_captions_below_a_head_is_no_part_of_it() -> None:
    (table,) = find_tables(TextLines("Item\tQty\tAmount\nThank\tyou\tall\nMount\t2\t9.00"))
    assert (table.first, len(table.columns)) == (1, 3)


def test_a_table_ends_before_the_next_head() -> None:
    text = "Item\tQty\tAmount\nMount\t2\t9.00\nItem\tQty\tAmount\nLens\t1\t5.00"
    assert [(table.first, table.end) for table in find_tables(TextLines(text))] == [(1, 2), (3, 4)]


def kind_of(text: str, value: str) -> ColumnKind | None:
    lines = TextLines(text)
    (table,) = find_tables(lines)
    line = lines.at(text.rindex(value))
    return table.kind_of(lines.part(line, text.rindex(value), text.rindex(value) + len(value)), lines.row(line))


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("Item\tQty\tAmount\nMount\t2\t9.00", "2", ColumnKind.QUANTITY),
        ("Item\tQty\tAmount\nMount\t\t9.00", "9.00", ColumnKind.AMOUNT),
        ("Item\tQty\tAmount\nMount\t9.00", "9.00", None),
        ("Item\tQty Amount\nMount\t2 9.00", "2", None),
        ("Item\tQty\tUnit\tAmount\n\t\tprice\t\nMount\t2\t4.50\t9.00", "4.50", ColumnKind.PRICE),
        ("Item\tQty\t\tAmount\n\t\tprice\t\nMount\t2\t4.50\t9.00", "4.50", ColumnKind.PRICE),
        ("Item\tQty\tAmount\nplease note\tprice\t\nMount\t2\t9.00", "2", ColumnKind.QUANTITY),
        ("Item      Qty   Amount\nMount       2     9.00", "9.00", ColumnKind.AMOUNT),
        ("Item      Qty   Amount\nMount       2     9.00", "2 ", ColumnKind.QUANTITY),
        ("Item      Qty   Amount\nMount\t2\t9.00", "9.00", None),
    ],
)
def test_a_value_belongs_to_the_column_above_it(text: str, value: str, kind: ColumnKind | None) -> None:
    assert kind_of(text, value) is kind


def test_a_table_says_which_columns_it_has() -> None:
    (table,) = find_tables(TextLines("Item\tQty\tAmount\nMount\t2\t9.00"))
    assert table.has(ColumnKind.QUANTITY)
    assert not table.has(ColumnKind.PRICE)
