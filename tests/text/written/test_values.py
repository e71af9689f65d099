"""The values of a bill that the model has not found."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity, Source
from service.text.values.context import DocumentContext
from service.text.written import values
from service.text.written.values import written_values


def written(text: str, *entities: tuple[str, str]) -> list[tuple[str, str]]:
    found, place = [], 0
    for label, part in entities:
        place = text.index(part, place)
        found.append(Entity(label, part, place, place + len(part), 0.9))
        place += len(part)
    result = written_values(DocumentContext(text), found)
    assert all(text[each.start : each.end] == each.text and each.source is Source.RULE for each in result)
    return [(each.label, each.text) for each in result]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Shop\nTOTAL  RM 9.00\nThanks", [("MONEY", "RM 9.00")]),
        ("Shop\nWidget 9.00", []),
        ("Zahlbar netto bis 04.04.2018, Skonto bis 15.03.2018", [("DATE", "04.04.2018")]),
        ("Delivered 04.04.2018", []),
        ("Avoir AV-2017-0005", [("ID_NUMBER", "AV-2017-0005")]),
        ("Facture liée AV-2017-0005", []),
        ("Invoice date 04.04.2018", [("DATE", "04.04.2018")]),
        ("Handelsrechnung (380) Nr. 471113 vom 13.06.2018", [("ID_NUMBER", "471113")]),
        ("Room 471113", []),
        ("Invoice 12.50", []),
    ],
)
def test_a_value_is_kept_where_words_name_it(text: str, wanted: list[tuple[str, str]]) -> None:
    assert written(text) == wanted


def test_what_the_model_has_found_stands() -> None:
    text = "Invoice INV-17 of 04.04.2018, due 05.05.2018\nTotal 9.00 Tax 1.00"
    assert written(text, ("INVOICE_ID", "17"), ("DUE_DATE", "05"), ("TOTAL_AMOUNT", "9")) == [("MONEY", "1.00")]


def test_an_amount_under_another_kind_of_label_is_kept() -> None:
    assert written("Total 9.00", ("QUANTITY", "9.00")) == [("MONEY", "9.00")]


def test_the_numbers_of_a_row_are_kept() -> None:
    text = "Item Price Number Total\nSteak 5,5000 4 kg 7 %\n22,00\nof cattle 9,00"
    assert written(text, ("LINE_ITEM", "Steak")) == [("MONEY", "5,5000"), ("QUANTITY", "4 kg"), ("MONEY", "22,00")]
    assert written(text, ("LINE_ITEM", "Steak"), ("QUANTITY", "4"), ("MONEY", "22,00")) == [("MONEY", "5,5000")]


def test_a_row_ends_at_the_next_description() -> None:
    assert written("Mount 1.00 Lens 2.00", ("LINE_ITEM", "Mount"), ("LINE_ITEM", "Lens")) == [
        ("MONEY", "1.00"),
        ("MONEY", "2.00"),
    ]


def test_of_a_long_text_and_of_many_values_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST_VALUES", 2)
    assert written("Total 1.00\nTotal 2.00\nTotal 3.00") == [("MONEY", "1.00"), ("MONEY", "2.00")]
    monkeypatch.setattr(values, "PAGE_CHARACTERS", 12)
    assert written("Total 1.00\nTotal 2.00") == [("MONEY", "1.00")]
    assert written("Total 1.00\nTotal 2.00", ("LINE_ITEM", "2.00")) == [("MONEY", "1.00")]
