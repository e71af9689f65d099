"""What an invoice's XML states: its places in the text, contradictions of the page, and what no reader would state."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from service.core.decoding.value import Value, ValueKind
from service.core.fields.electronic_invoice import MOST_PLACED_TAXES, InvoiceFields, invoice_fields
from service.core.fields.mentions import CHECKSUM, LINES_BETWEEN, NO_SUM, WORDS, Choice, Reason
from service.core.fields.stated_invoice import MOST_ROWS, ElectronicInvoice, InvoiceRow, StatedTax
from tests.support.mentions import mentions_in


def money(number: str) -> Value:
    return Value(ValueKind.MONEY, f"{number} EUR", number=Decimal(number), unit="EUR")


def text_of(value: str) -> Value:
    return Value(ValueKind.TEXT, value)


def date(value: str) -> Value:
    return Value(ValueKind.DATE, value)


def invoice(*rows: InvoiceRow, **roles: Value) -> ElectronicInvoice:
    return ElectronicInvoice("CII", "urn:x", None, "380", "EUR", roles, rows)


def place(label: str, value: Value, text: str, *found: tuple[str, str]) -> str | None:
    """The part of the text where a value is placed."""
    stated = invoice_fields(invoice(**{label: value}), text, mentions_in(text, *found), {}).roles[label.lower()]
    return text[stated.start : stated.end] or None


@pytest.mark.parametrize(
    ("number", "text", "shown"),
    [
        ("1476.20", "Summe 1.476,20 EUR", "1.476,20"),
        ("1476.20", "Total $1,476.20", "1,476.20"),
        ("1476.20", "Total 1 476,20 €", "1 476,20"),
        ("1476.20", "Total CHF 1'476.20", "1'476.20"),
        ("1476.20", "Total 1476.2", "1476.2"),
        ("-233.47", "Avoir -233,47", "233,47"),
        ("100.00", "Total 100,- EUR", "100,-"),
        ("100.00", "No 2100 and 100.05 and 100.000 and 1.100,00", None),
        ("100.00", "Total 100.", "100"),
        ("0.50", "Rabatt 0,50", "0,50"),
    ],
)
def test_an_amount_is_found_as_it_is_written(number: str, text: str, shown: str | None) -> None:
    assert place("TOTAL_AMOUNT", money(number), text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("am 12.03.2026", "12.03.2026"),
        ("on 3/12/26 it", "3/12/26"),
        ("2026-03-12", "2026-03-12"),
        ("12-3-2026", "12-3-2026"),
        ("112.03.2026", None),
        ("13.03.2026", None),
    ],
)
def test_a_date_is_found_as_it_is_written(text: str, shown: str | None) -> None:
    assert place("INVOICE_DATE", date("2026-03-12"), text) == shown


@pytest.mark.parametrize(
    ("label", "value", "text", "shown"),
    [
        ("INVOICE_ID", text_of("RE 118"), "Nr. RE\n118!", "RE\n118"),
        ("INVOICE_ID", text_of("118"), "Nr. 1183", None),
        ("IBAN", Value(ValueKind.IBAN, "DE89370400440532013000"), "DE89 3704 0044 0532 0130 00",
         "DE89 3704 0044 0532 0130 00"),
        ("SUPPLIER_NAME", text_of("Nordlicht Optik"), "NORDLICHT  OPTIK", "NORDLICHT  OPTIK"),
        ("SUPPLIER_NAME", text_of("İnci Ltd"), "Inci İNCİ LTD; İnci Ltd.", "İnci Ltd"),
        ("SUPPLIER_NAME", text_of("Opti"), "Optik, _Opti, \t\n (Opti)", "Opti"),
        ("SUPPLIER_NAME", text_of("  "), "a  b", None),
        ("TAX_ID", Value(ValueKind.TAX_ID, "1" * 41), "1" * 41, None),
    ],
)  # fmt: skip
def test_characters_are_searched_where_nothing_was_found(
    label: str, value: Value, text: str, shown: str | None
) -> None:
    assert place(label, value, text) == shown


@pytest.mark.parametrize(
    ("stated", "shown", "found"),
    [
        ("2026-02-14", "01.02.2026 - 28.02.2026", True),
        ("2026-02-01/2026-02-28", "2026-02-14", True),
        ("2026-02-01/2026-02-28", "February 2026", True),
        ("2026-03-01/2026-03-31", "01.02.2026 - 28.02.2026", False),
        ("2026-03-14", "soon", False),
    ],
)
def test_a_day_of_supply_is_found_in_its_period(stated: str, shown: str, *, found: bool) -> None:
    assert place("SUPPLY_DATE", date(stated), f"on {shown}", ("SUPPLY_DATE", shown)) == (shown if found else None)


def test_a_period_is_found_as_it_is_written() -> None:
    assert (
        place("SUPPLY_DATE", date("2026-02-01/2026-02-28"), "01.02.2026 bis 28.02.2026") == "01.02.2026 bis 28.02.2026"
    )


def test_mentions_come_before_characters_and_those_of_the_role_first() -> None:
    text = "12.03.26 0,00 100,00 Hundert 100,00"
    found = (("MONEY", "100,00"), ("TOTAL_AMOUNT", "100,00"))
    stated = invoice_fields(invoice(TOTAL_AMOUNT=money("100")), text, mentions_in(text, *found), {})
    assert stated.roles["total_amount"].start == text.rindex("100,00")
    assert place("DUE_DATE", date("2026-03-12"), "12 March 2026", ("DATE", "12 March 2026")) == "12 March 2026"
    assert place("DUE_DATE", date("2026-03-02"), "02/03/2026", ("DATE", "02/03/2026")) == "02/03/2026"


@pytest.mark.parametrize(
    ("stated", "label", "shown", "is_equal"),
    [
        ("Lieferant GmbH", "SUPPLIER_NAME", "Lieferant GmbH & Co. KG", True),
        ("Lieferant GmbH", "ORGANIZATION", "Lieferant GmbH & Co. KG", False),
        ("AG", "SUPPLIER_NAME", "Lager und Magazin", False),
        ("Müller-Bau", "ORGANIZATION", "MÜLLER BAU", True),
    ],
)
def test_a_name_is_that_of_a_longer_one(stated: str, label: str, shown: str, *, is_equal: bool) -> None:
    (mention,) = mentions_in(shown, (label, shown))
    fields = invoice_fields(invoice(SUPPLIER_NAME=text_of(stated)), shown.replace("GmbH", "XmbH"), [mention], {})
    assert bool(fields.roles["supplier_name"].end) is is_equal


PAGE = "Invoice RE-1\nNet 1.190,00 EUR\nTotal 1.190,00 EUR\nIBAN DE89 3704 0044 0532 0130 00"


def chosen(score: float = 0.9, reason: Reason = Reason.LABEL, *evidence: str) -> dict[str, Choice]:
    found = mentions_in(PAGE, ("INVOICE_ID", "RE-1"), ("NET_AMOUNT", "1.190,00 EUR"), ("TOTAL_AMOUNT", "1.190,00 EUR"))
    return {
        each.label.lower(): Choice(each, reason, score=score, evidence=dict.fromkeys(evidence, 1.0)) for each in found
    }


def against(choices: dict[str, Choice], **roles: Value) -> InvoiceFields:
    return invoice_fields(invoice(**roles), PAGE, [choice.best for choice in choices.values()], choices)


def test_a_page_contradicts_the_xml_where_it_surely_says_something_else() -> None:
    (found,) = against(chosen(), TOTAL_AMOUNT=money("119.00"), INVOICE_ID=text_of("RE-1")).contradictions
    assert (found.role, found.stated.text, found.shown.text) == ("total_amount", "119.00 EUR", "1.190,00 EUR")


@pytest.mark.parametrize(
    "choices",
    [
        chosen(0.2, Reason.SUM),
        chosen(0.2, Reason.LABEL, WORDS),
        chosen(0.2, Reason.LABEL, CHECKSUM),
        chosen(0.9, Reason.LABEL, NO_SUM),
    ],
)
def test_words_a_checksum_and_a_sum_make_a_page_sure_of_its_total(choices: dict[str, Choice]) -> None:
    assert against(choices, TOTAL_AMOUNT=money("119.00")).contradictions


def test_a_net_that_does_not_add_up_alone_contradicts_nothing() -> None:
    assert against(chosen(), NET_AMOUNT=money("119.00")).contradictions
    for doubt in (NO_SUM, LINES_BETWEEN):
        assert not against(chosen(0.9, Reason.LABEL, doubt), NET_AMOUNT=money("119.00")).contradictions
    assert against(chosen(0.4, Reason.LABEL, NO_SUM, WORDS), NET_AMOUNT=money("119.00")).contradictions


def test_contradictions_are_in_the_order_of_roles() -> None:
    found = against(chosen(), TOTAL_AMOUNT=money("119.00"), INVOICE_ID=text_of("RE-2")).contradictions
    assert [each.role for each in found] == ["invoice_id", "total_amount"]


@pytest.mark.parametrize(
    ("choices", "roles"),
    [
        (chosen(), {"TOTAL_AMOUNT": money("1190.00"), "INVOICE_ID": text_of("RE-1")}),
        (chosen(), {"TOTAL_AMOUNT": money("-1190.00")}),
        (chosen(0.3), {"TOTAL_AMOUNT": money("119.00")}),
        ({}, {"TOTAL_AMOUNT": money("119.00")}),
        (chosen(), {"INVOICE_ID": Value(ValueKind.IBAN, "DE89370400440532013000")}),
        (chosen(), {"DUE_DATE": date("2026-04-11")}),
    ],
)
def test_a_page_that_does_not_say_otherwise_is_no_contradiction(
    choices: dict[str, Choice], roles: dict[str, Value]
) -> None:
    assert against(choices, **roles).contradictions == ()


def test_rows_are_placed_one_after_another() -> None:
    text = "Pen 2 1,50 3,00\nPen 4 1,50 6,00\nInk 7,00"
    rows = (
        InvoiceRow("Pen", Value(ValueKind.QUANTITY, "2", number=Decimal(2)), money("1.50"), money("3.00")),
        InvoiceRow("Pen", Value(ValueKind.QUANTITY, "4", number=Decimal(4)), money("1.50"), money("6.00")),
        InvoiceRow("Not shown", None, None, money("5.00")),
        InvoiceRow("", None, None, money("7.00")),
    )
    placed = invoice_fields(invoice(*rows), text, [], {}).rows
    shown = [
        [text[each.start : each.end] for each in (row.description, row.quantity, row.unit_price, row.amount) if each]
        for row in placed
    ]
    assert shown == [["Pen", "2", "1,50", "3,00"], ["Pen", "4", "1,50", "6,00"], ["", ""], ["", ""]]
    assert placed[0].description.start < placed[1].description.start


def test_of_very_many_rows_the_first_are_placed() -> None:
    rows = [InvoiceRow("Pen", amount=money("3.00"))] * 600
    placed = invoice_fields(invoice(*rows), "Pen 3,00\n" * 600, [], {}).rows
    assert [bool(row.description.end) for row in placed] == [True] * 500 + [False] * 100


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("name", "text"), [("ab " * 300 + "c", "ab " * 66_000), ("a" * 900, "a" * 200_000)])
def test_names_that_repeat_cost_linear_time(name: str, text: str) -> None:
    rows = [InvoiceRow(name, amount=money("3.00"))] * 500
    placed = invoice_fields(invoice(*rows, SUPPLIER_NAME=text_of(name)), text, [], {})
    assert not any(row.description.end for row in placed.rows)


def test_the_sums_of_the_xml_are_checked() -> None:
    def checks(total: str) -> list[tuple[bool, str]]:
        roles = {"NET_AMOUNT": money("100"), "TAX_AMOUNT": money("19"), "TOTAL_AMOUNT": money(total)}
        return [(each.holds, str(each.difference)) for each in invoice_fields(invoice(**roles), "", [], {}).checks]

    assert checks("119") == [(True, "0")]
    assert checks("118") == [(False, "1")]
    assert invoice_fields(invoice(NET_AMOUNT=money("1")), "", [], {}).checks == ()


@pytest.mark.parametrize(
    ("paid", "due", "answer"),
    [
        ("500", "521.91", [(True, "0.00")]),
        ("500", "500.00", [(False, "21.91")]),
        ("500", "522.00", []),  # the XML may round what is due
        ("0", "1021.91", []),
        ("0", "900", [(False, "121.91")]),
    ],
)
def test_what_was_paid_is_checked(paid: str, due: str, answer: list[tuple[bool, str]]) -> None:
    stated = invoice(TOTAL_AMOUNT=money("1021.91"), PAID_AMOUNT=money(paid), AMOUNT_DUE=money(due))
    checks = invoice_fields(stated, "", [], {}).checks
    assert [(each.holds, str(each.difference)) for each in checks] == answer
    assert {(each.rule, each.lines) for each in checks} <= {
        ("total_amount - paid_amount = amount_due", (("paid_amount", Decimal(f"-{paid}")),))
    }


@pytest.mark.parametrize(
    ("amounts", "holds"), [(("60", "40"), [True]), (("60", "40.01"), [True]), (("60", "50"), []), (("100", None), [])]
)
def test_rows_that_are_the_net_are_a_check(amounts: tuple[str | None, ...], holds: list[bool]) -> None:
    rows = (InvoiceRow("Desk", amount=None if each is None else money(each)) for each in amounts)
    checks = invoice_fields(invoice(*rows, NET_AMOUNT=money("100")), "", [], {}).checks
    assert [(each.rule, each.holds) for each in checks] == [("sum of line_items = net_amount", hold) for hold in holds]


def test_the_taxes_of_the_xml_have_their_places() -> None:
    percent = Value(ValueKind.PERCENT, "19", number=Decimal(19))
    taxes = (
        StatedTax(percent, money("100.00"), money("19.00")),
        StatedTax(percent, None, money("0.00")),
        StatedTax(percent, money("77.00")),
    )
    text = "VAT 19 % of 100.00: 19.00"
    mentions = mentions_in(text, ("PERCENT", "19 %"), ("MONEY", "19.00"))
    placed = invoice_fields(replace(invoice(), taxes=taxes), text, mentions, {}).taxes
    shown = [[part and text[part.start : part.end] for part in (tax.rate, tax.base, tax.amount)] for tax in placed]
    assert shown == [["19 %", "100.00", "19.00"], ["19 %", None, ""], ["19 %", "", None]]
    assert [part and part.label for part in (placed[0].rate, placed[0].base)] == ["PERCENT", "MONEY"]


def test_the_places_of_the_first_taxes_alone_are_searched() -> None:
    taxes = (StatedTax(None, None, money("19.00")),) * (MOST_PLACED_TAXES + 1)
    placed = invoice_fields(replace(invoice(), taxes=taxes), "VAT 19.00", [], {}).taxes
    assert [tax.amount and tax.amount.end for tax in placed] == [9] * MOST_PLACED_TAXES + [0]


SOUND = invoice(InvoiceRow("Pen", amount=money("3.00")), TOTAL_AMOUNT=money("3.00"), INVOICE_DATE=date("2026-03-12"))


@pytest.mark.parametrize(
    "changed",
    [
        replace(SOUND, profile="x" * 1_001),
        replace(SOUND, rows=SOUND.rows * (MOST_ROWS + 1)),
        invoice(PERSON=text_of("Anna")),
        replace(SOUND, amount_due=money("NaN")),
        replace(SOUND, taxes=(StatedTax(amount=money("NaN")),)),
        replace(SOUND, taxes=(StatedTax(),) * (MOST_ROWS + 1)),
        invoice(TOTAL_AMOUNT=money("1E+20")),
        invoice(TOTAL_AMOUNT=money("1E-20")),
        invoice(TOTAL_AMOUNT=money("NaN")),
        invoice(TOTAL_AMOUNT=Value(ValueKind.MONEY, "1 EUR")),
        invoice(INVOICE_ID=text_of("x" * 1_001)),
        invoice(INVOICE_ID=Value(ValueKind.TEXT, "1", number=Decimal(1))),
        invoice(INVOICE_DATE=date("2026-13-01")),
        invoice(InvoiceRow("x", amount=money("1E+20"))),
        invoice(InvoiceRow("x" * 1_001)),
    ],
)
def test_what_no_reader_states_is_not_sound(changed: ElectronicInvoice) -> None:
    assert SOUND.is_sound
    assert not changed.is_sound


@pytest.mark.parametrize(("code", "is_credit_note"), [("380", False), ("381", True)])
def test_its_type_says_whether_it_is_a_credit_note(code: str, is_credit_note: bool) -> None:
    assert ElectronicInvoice("CII", "urn:x", None, code, "EUR", {}).is_credit_note is is_credit_note
