"""Rows of goods: by boxes where there are any, else by lines."""

from __future__ import annotations

import pytest

from service.core.fields.line_items import LineItem, find_line_items
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention
from tests.support.mentions import boxed, mentions_in

Row = tuple[str, str | None, str | None, str | None]


def rows(text: str, mentions: list[Mention], taken: tuple[int, ...] = ()) -> list[Row]:
    def shown(part: Mention | None) -> str | None:
        return part and part.text

    found = find_line_items(mentions, TextLines(text), taken)
    return [(row.description.text, shown(row.quantity), shown(row.unit_price), shown(row.amount)) for row in found]


def test_a_row_is_its_line_and_the_next_ones() -> None:
    text = "2 x Mount 420.00 840.00\nLens, coated\n6 35.50 213.00\nThank you\n\n\n9 1.00"
    found = mentions_in(
        text,
        *(("QUANTITY", "2"), ("LINE_ITEM", "Mount"), ("MONEY", "420.00"), ("MONEY", "840.00")),
        *(("LINE_ITEM", "Lens, coated"), ("QUANTITY", "6"), ("MONEY", "35.50"), ("MONEY", "213.00"), ("MONEY", "1.00")),
    )
    assert rows(text, found) == [("Mount", "2", "420.00", "840.00"), ("Lens, coated", "6", "35.50", "213.00")]


def test_quantity_times_price_decides_which_numbers_they_are() -> None:
    text = "Mount 4 2 500.00 420.00 840.00"
    found = mentions_in(
        text,
        ("LINE_ITEM", "Mount"),
        ("QUANTITY", "4"),
        ("QUANTITY", "2"),
        *(("MONEY", f"{n}.00") for n in (500, 420, 840)),
    )
    assert rows(text, found) == [("Mount", "2", "420.00", "840.00")]


def test_numbers_that_do_not_multiply_are_taken_in_order() -> None:
    text = "Mount two 3 m 10.00 4.00 9.00"
    found = mentions_in(text, ("LINE_ITEM", "Mount"), ("QUANTITY", "two"), *(("MONEY", f"{n}.00") for n in (10, 4, 9)))
    assert rows(text, found) == [("Mount", "two", "4.00", "9.00")]
    odd = mentions_in(text, ("LINE_ITEM", "Mount"), ("QUANTITY", "3"), ("MONEY", "10.00"), ("MONEY", "9.00"))
    assert rows(text, odd) == [("Mount", "3", "10.00", "9.00")]


def test_amounts_with_a_role_of_the_document_are_of_no_row() -> None:
    text = "Mount 840.00\nTotal 999.00"
    found = mentions_in(text, ("LINE_ITEM", "Mount"), ("MONEY", "840.00"), ("TOTAL_AMOUNT", "999.00"))
    assert rows(text, found, taken=(2,)) == [("Mount", None, None, "840.00")]


def test_an_item_without_numbers_is_a_row_only_where_none_has_one() -> None:
    text = "A mount was asked for.\n\n\nMount 840.00"
    named = mentions_in(text, ("LINE_ITEM", "mount"), ("LINE_ITEM", "Mount"))
    assert rows(text, named) == [("mount", None, None, None), ("Mount", None, None, None)]
    priced = mentions_in(text, ("LINE_ITEM", "mount"), ("LINE_ITEM", "Mount"), ("MONEY", "840.00"))
    assert rows(text, priced) == [("Mount", None, None, "840.00")]
    assert rows(text, []) == []


def test_with_boxes_a_row_is_a_band_of_its_page() -> None:
    """The text has the columns one after the other, as PDFs may have them."""
    text = "Mount Lens 2 6 840.00 213.00 7.00"
    mount, lens, two, six, first, second, far = mentions_in(
        text,
        *(("LINE_ITEM", "Mount"), ("LINE_ITEM", "Lens"), ("QUANTITY", "2"), ("QUANTITY", "6")),
        *(("MONEY", "840.00"), ("MONEY", "213.00"), ("MONEY", "7.00")),
    )
    found = [
        boxed(mount, (50, 100, 150, 112), (50, 113, 90, 125)),
        boxed(lens, (50, 140, 150, 152)),
        boxed(two, (200, 100, 210, 112)),
        boxed(six, (200, 141, 210, 153)),
        boxed(first, (300, 114, 340, 126)),
        boxed(second, (300, 139, 340, 151)),
        boxed(far, (300, 100, 340, 112), page=2),
    ]
    assert rows(text, found) == [("Mount", "2", None, "840.00"), ("Lens", "6", None, "213.00")]


def test_a_row_says_whether_it_has_a_number() -> None:
    text = "Mount 2"
    item, two = mentions_in(text, ("LINE_ITEM", "Mount"), ("QUANTITY", "2"))
    assert LineItem(item, quantity=two).has_number
    assert not LineItem(item).has_number


def test_a_written_quantity_counts_only_if_it_multiplies() -> None:
    text = "Steak 5.50 4 kg 7 22.00"
    item, price, four, seven, total = mentions_in(
        text, ("LINE_ITEM", "Steak"), ("MONEY", "5.50"), ("QUANTITY", "4 kg"), ("QUANTITY", "7"), ("MONEY", "22.00")
    )
    four, seven = four._replace(by_keyword=True), seven._replace(by_keyword=True)
    assert rows(text, [item, price, four, seven, total]) == [("Steak", "4 kg", "5.50", "22.00")]
    assert rows(text, [item, price, seven, total]) == [("Steak", None, "5.50", "22.00")]


def test_a_quantity_of_the_model_goes_before_a_written_one() -> None:
    text = "Steak 2 5.00 2 10.00"
    item, first, price, second, total = mentions_in(
        text, ("LINE_ITEM", "Steak"), ("QUANTITY", "2"), ("MONEY", "5.00"), ("QUANTITY", "2"), ("MONEY", "10.00")
    )
    (row,) = find_line_items([item, first._replace(by_keyword=True), price, second, total], TextLines(text), ())
    assert row.quantity == second


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("2.0", "150.00", "300.00"), ("2.0", "150.00", "300.00")),
        (("12", "7.90", "-94.80"), ("12", "7.90", "-94.80")),
        (("-12", "7.90", "-94.80"), ("-12", "7.90", "-94.80")),
        (("$2.00", "150.00", "300.00"), (None, "150.00", "300.00")),
        (("2.0", "150.00", "310.00"), (None, "150.00", "310.00")),
    ],
)
def test_the_equation_finds_a_quantity_taken_for_money(
    numbers: tuple[str, ...], expected: tuple[str | None, ...]
) -> None:
    text = " ".join(("Body labor", *numbers))
    found = mentions_in(text, ("LINE_ITEM", "Body labor"), *(("MONEY", each) for each in numbers))
    assert rows(text, found) == [("Body labor", *expected)]


def test_a_row_with_its_amount_does_not_reach_into_lines_of_other_words() -> None:
    text = "BIO MILCH 1,29\nBROT hell 2,49\nEIER 3,00\n2 Stk x 1,50"
    found = mentions_in(
        text,
        *(("LINE_ITEM", "BIO MILCH"), ("MONEY", "1,29"), ("MONEY", "2,49")),
        *(("LINE_ITEM", "EIER"), ("MONEY", "3,00"), ("QUANTITY", "2"), ("MONEY", "1,50")),
    )
    assert rows(text, found) == [("BIO MILCH", None, None, "1,29"), ("EIER", "2", "1,50", "3,00")]


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("Item\tQty\tPrice\tTax\tAmount", "Steak\t2\t5.00\t1.90\t11.90", ("2", "5.00", "11.90")),
        ("Item\tQty\tPrice\tDisc. %\tAmount", "Steak\t2\t5.00\t10.00\t9.00", ("2", "5.00", "9.00")),
        ("Item\tAmount\tQty\tPrice", "Steak\t11.90\t2\t5.00", ("2", "5.00", "11.90")),
        ("Item\tQty\tPrice\tAmount", "Steak\t2\t\t11.90", ("2", None, "11.90")),
        ("Item\tQty\tUnit\tAmount", "Steak\t2\t5.00\t11.90", ("2", "5.00", "11.90")),
        ("Item\tQty\tAmount", "Steak 5.00\t2\t11.90", ("2", "5.00", "11.90")),
        ("Item\tQty\tPrice", "Steak\t2\t5.00", ("2", None, "5.00")),
        ("Item\tOrdered\tShipped\tList\tNet\tTotal", "Steak\t4\t3\t6.00\t5.00\t15.00", ("3", "5.00", "15.00")),
        ("Item\tQty\tPrice\tAmount", "Steak\t5\t100\t500.00", ("5", "100", "500.00")),
        ("Item\tNo.\tQty\tAmount", "Steak\t7\t2\t11.90", ("2", None, "11.90")),
    ],
)
def test_heads_say_which_numbers_they_are(
    head: str, row: str, expected: tuple[str | None, str | None, str | None]
) -> None:
    text = f"{head}\n{row}"
    numbers = [part for part in row.replace(" ", "\t").split("\t")[1:] if part]
    found = mentions_in(
        text, ("LINE_ITEM", "Steak"), *(("MONEY" if "." in part else "QUANTITY", part) for part in numbers)
    )
    assert rows(text, found) == [("Steak", *expected)]


def test_a_table_drawn_sideways_has_its_rows_by_lines() -> None:
    text = "Card stock\t12\t96.00\nRibbon\t5\t30.00"
    stock, twelve, first, ribbon, five, second = mentions_in(
        text,
        *(("LINE_ITEM", "Card stock"), ("QUANTITY", "12"), ("MONEY", "96.00")),
        *(("LINE_ITEM", "Ribbon"), ("QUANTITY", "5"), ("MONEY", "30.00")),
    )
    found = [
        boxed(stock, (50, 700, 60, 760)),
        boxed(twelve, (50, 500, 60, 512)),
        boxed(first, (50, 300, 60, 330)),
        boxed(ribbon, (70, 700, 80, 760)),
        boxed(five, (70, 500, 80, 506)),
        boxed(second, (70, 300, 80, 330)),
    ]
    assert rows(text, found) == [("Card stock", "12", None, "96.00"), ("Ribbon", "5", None, "30.00")]


def test_descriptions_of_a_line_go_before_items_of_the_model() -> None:
    text = "Labels, 100 sheets\t3\t14.80"
    labels, hundred, sheets, three, price = mentions_in(
        text,
        *(("LINE_ITEM", "Labels"), ("QUANTITY", "100"), ("LINE_ITEM", "sheets"), ("QUANTITY", "3"), ("MONEY", "14.80")),
    )
    whole = labels._replace(entity=9, text="Labels, 100 sheets", end=18, by_keyword=True)
    assert rows(text, [labels, whole, hundred, sheets, three, price]) == [("Labels, 100 sheets", "3", None, "14.80")]


def test_payments_are_no_rows() -> None:
    text = "Steak 9.00\nCHANGE 1.00"
    found = mentions_in(text, ("LINE_ITEM", "Steak"), ("MONEY", "9.00"), ("LINE_ITEM", "CHANGE"), ("MONEY", "1.00"))
    assert rows(text, found) == [("Steak", None, None, "9.00")]


def test_an_amount_on_its_row_is_of_the_row_though_a_role_has_it() -> None:
    text = "Advice 10 h at 120.00  1200.00"
    found = mentions_in(text, ("LINE_ITEM", "Advice"), ("QUANTITY", "10 h"), ("MONEY", "120.00"), ("MONEY", "1200.00"))
    assert rows(text, found, taken=(3,)) == [("Advice", "10 h", "120.00", "1200.00")]


@pytest.mark.parametrize(
    ("counts", "expected"), [(("2", "3"), ("2", "3")), (("1", "1"), ("1", "1")), (("1", "2"), (None, None))]
)
def test_a_count_before_a_description_is_its_quantity(
    counts: tuple[str, str], expected: tuple[str | None, str | None]
) -> None:
    text = f"{counts[0]} Pen 6.00\n{counts[1]} x Ink 9.50"
    pen, ink = (("QUANTITY", counts[0]), ("LINE_ITEM", "Pen"), ("MONEY", "6.00")), ("LINE_ITEM", "Ink")
    found = mentions_in(text, *pen, ("QUANTITY", counts[1]), ink, ("MONEY", "9.50"))
    written = [each._replace(by_keyword=each.label == "QUANTITY") for each in found]
    assert rows(text, written) == [("Pen", expected[0], None, "6.00"), ("Ink", expected[1], None, "9.50")]


def test_a_count_and_a_price_go_before_the_value_that_swallowed_them() -> None:
    text = "Vitamins 2x21.50\t43.00"
    item, glued, total = mentions_in(text, ("LINE_ITEM", "Vitamins"), ("MONEY", "2x21.50"), ("MONEY", "43.00"))
    (count,), (price,) = mentions_in(text, ("QUANTITY", "2")), mentions_in(text, ("MONEY", "21.50"))
    found = [
        item,
        glued,
        count._replace(entity=7, by_keyword=True),
        price._replace(entity=8, by_keyword=True),
        total,
    ]
    assert rows(text, found) == [("Vitamins", "2", "21.50", "43.00")]


def test_numbers_on_the_line_of_a_description_are_its_own() -> None:
    text = "Ink\t6\t19.20\nTea\t2\t5.00"
    ink, six, first, tea, two, second = mentions_in(
        text,
        *(("LINE_ITEM", "Ink"), ("QUANTITY", "6"), ("MONEY", "19.20")),
        *(("LINE_ITEM", "Tea"), ("QUANTITY", "2"), ("MONEY", "5.00")),
    )
    found = [
        boxed(ink, (50, 112, 90, 124)),
        boxed(six, (200, 104, 206, 114)),
        boxed(first, (300, 104, 330, 114)),
        boxed(tea, (50, 130, 90, 142)),
        boxed(two, (200, 118, 206, 128)),
        boxed(second, (300, 118, 330, 128)),
    ]
    assert rows(text, found) == [("Ink", "6", None, "19.20"), ("Tea", "2", None, "5.00")]


def test_a_payment_below_is_not_of_the_row() -> None:
    text = "Salbe\t5,00\nBAR\t30,00"
    found = mentions_in(text, ("LINE_ITEM", "Salbe"), ("MONEY", "5,00"), ("MONEY", "30,00"))
    assert rows(text, found) == [("Salbe", None, None, "5,00")]
