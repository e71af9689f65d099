"""Dates and numbers of a bill: labels, and the words before them."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.core.fields.key_roles import role_before
from service.core.fields.lines import TextLines
from service.core.fields.named_roles import choose_named, named_dates
from tests.support.mentions import mentions_in


def roles(text: str, *found: tuple[str, str] | tuple[str, str, float]) -> dict[str, tuple[str, str]]:
    choices = choose_named(mentions_in(text, *found), TextLines(text))
    return {label: (choice.best.text, choice.reason.value) for label, choice in choices.items()}


def said(text: str, label: str, part: str) -> str | None:
    return role_before(TextLines(text), mentions_in(text, (label, part))[0])


@pytest.mark.parametrize(
    "words",
    ["Due Date", "due", "Payable by", "Date d'échéance", "Fälligkeitsdatum:", "Zahlbar bis", "Fecha de vencimiento",
     "Data scadenza", "Vervaldatum", "Termin płatności", "Срок оплаты:", "支払期限"],
)  # fmt: skip
def test_words_for_when_to_pay(words: str) -> None:
    assert said(f"{words} 12/03/2026", "DATE", "12/03/2026") == "DUE_DATE"


@pytest.mark.parametrize("words", ["Invoice date:", "Date", "Rechnungsdatum", "Fecha", "Data:", "発行日", "Дата"])
def test_words_for_a_bills_own_date(words: str) -> None:
    assert said(f"{words} 12/03/2026", "DATE", "12/03/2026") == "INVOICE_DATE"


@pytest.mark.parametrize(
    ("words", "role"),
    [("Purchase order:", "PURCHASE_ORDER"), ("PO No. ", "PURCHASE_ORDER"), ("Bestellnummer ", "PURCHASE_ORDER"),
     ("N° de commande ", "PURCHASE_ORDER"), ("Bon de commande n° ", "PURCHASE_ORDER"), ("注文番号:", "PURCHASE_ORDER"),
     ("Invoice No. ", "INVOICE_ID"), ("Rechnungsnummer: ", "INVOICE_ID"), ("Facture n° ", "INVOICE_ID"),
     ("Nota de crédito n.º ", "INVOICE_ID"),
     ("发票号码:", "INVOICE_ID"), ("Your order of the last invoice, see ", None)],
)  # fmt: skip
def test_words_for_numbers(words: str, role: str | None) -> None:
    assert said(f"{words}A-88123", "ID_NUMBER", "A-88123") == role


def test_the_nearest_words_count() -> None:
    assert said("Date 1/2/2026 due 3/4/2026", "DATE", "3/4/2026") == "DUE_DATE"
    assert said("Due on receipt. Date: 3/4/2026", "DATE", "3/4/2026") == "INVOICE_DATE"


def test_a_date_after_a_due_word_is_preferred_to_an_unsure_one() -> None:
    text = "Invoice Date 11/03/2026\nDue Date 12/03/2026\nSEPA 11/17/2026"
    found = roles(
        text, ("INVOICE_DATE", "11/03/2026", 0.49), ("INVOICE_DATE", "12/03/2026", 0.6), ("DUE_DATE", "11/17/2026", 0.3)
    )
    assert found == {"INVOICE_DATE": ("11/03/2026", "label"), "DUE_DATE": ("12/03/2026", "context")}


def test_a_number_without_a_role_gets_that_of_the_words_before_it() -> None:
    text = "Invoice NO-17\nPurchase order: PO-88123"
    assert roles(text, ("ID_NUMBER", "NO-17"), ("ID_NUMBER", "PO-88123")) == {
        "INVOICE_ID": ("NO-17", "context"),
        "PURCHASE_ORDER": ("PO-88123", "context"),
    }


@pytest.mark.parametrize("words", ["Facture liée", "Related invoice:", "Ursprungsrechnung Nr. ", "Factura original"])
def test_the_number_of_another_bill_is_not_this_ones(words: str) -> None:
    text = f"Credit note\n{words} FA-10"
    assert roles(text, ("INVOICE_ID", "FA-10")) == {}


def test_what_the_model_named_stays_where_no_words_stand() -> None:
    text = "INV-1 of 2 March 2026"
    assert roles(text, ("INVOICE_ID", "INV-1"), ("INVOICE_DATE", "2 March 2026")) == {
        "INVOICE_ID": ("INV-1", "label"),
        "INVOICE_DATE": ("2 March 2026", "label"),
    }


def test_words_above_name_a_value_that_nothing_stands_before() -> None:
    text = "Invoice No.\tDue date\nNO-17\t12/03/2026"
    assert roles(text, ("ID_NUMBER", "NO-17"), ("DATE", "12/03/2026")) == {
        "INVOICE_ID": ("NO-17", "context"),
        "DUE_DATE": ("12/03/2026", "context"),
    }
    assert said("Due date 1/2/2026\nposted 12/03/2026", "DATE", "12/03/2026") is None


def test_a_day_to_pay_by_in_prose_and_one_for_a_discount() -> None:
    text = "Zahlbar innerhalb 30 Tagen netto bis 04.04.2018, 3% Skonto innerhalb 10 Tagen bis 15.03.2018"
    assert said(text, "DATE", "04.04.2018") == "DUE_DATE"
    assert said(text, "DATE", "15.03.2018") == "DISCOUNT_DATE"


@pytest.mark.parametrize(
    "words",
    ["Handelsrechnung (380) Nr. ", "RECEIPT # No.: ", "Avoir ", "INVOICE NO: ", "N° de facture ", "請求書番号："],
)
def test_words_for_a_bills_own_number(words: str) -> None:
    assert said(f"{words}A-88123", "ID_NUMBER", "A-88123") == "INVOICE_ID"


def test_a_written_date_fills_a_role_and_takes_none_from_the_model() -> None:
    text = "Due 11/03/2026\nPayable by 12/03/2026"
    first, second = mentions_in(text, ("DUE_DATE", "11/03/2026", 0.3), ("DATE", "12/03/2026"))
    written = second._replace(by_keyword=True)
    assert choose_named([first, written], TextLines(text))["DUE_DATE"].best == first
    assert choose_named([written], TextLines(text))["DUE_DATE"].best == written


def test_a_bill_s_own_number_is_not_its_order_s_whatever_the_model_says() -> None:
    assert roles("Avoir AV-2017-0005", ("PURCHASE_ORDER", "AV-2017-0005")) == {
        "INVOICE_ID": ("AV-2017-0005", "context")
    }


def entity(text: str, label: str, value: str) -> Entity:
    start = text.index(value)
    return Entity(label, value, start, start + len(value), 0.4)


@pytest.mark.parametrize(
    ("text", "value", "said", "is_"),
    [
        ("Invoice INV-1 from Acme GmbH, due 12 March 2026, total 9", "12 March 2026", "INVOICE_DATE", "DUE_DATE"),
        ("zahlbar bis 17.02.2026", "17.02.2026", "INVOICE_DATE", "DUE_DATE"),
        ("Rechnungsdatum: 03.02.2026", "03.02.2026", "DUE_DATE", "INVOICE_DATE"),
        ("Date d'échéance : 05/04/2026", "05/04/2026", "INVOICE_DATE", "DUE_DATE"),
        ("due 12 March 2026", "12 March 2026", "DUE_DATE", "DUE_DATE"),
        ("due 12 March 2026", "12 March 2026", "DATE", "DATE"),
        ("due 12 March 2026", "12 March 2026", "EFFECTIVE_DATE", "EFFECTIVE_DATE"),
        ("on 12 March 2026", "12 March 2026", "INVOICE_DATE", "INVOICE_DATE"),
        ("Delivery date: 12.03.2026", "12.03.2026", "INVOICE_DATE", "INVOICE_DATE"),
    ],
)
def test_the_words_before_a_bill_s_date_say_which_it_is(text: str, value: str, said: str, is_: str) -> None:
    (found,) = named_dates(text, [entity(text, said, value)], ())
    assert found == entity(text, is_, value)


@pytest.mark.parametrize(
    ("text", "found", "labels"),
    [
        ("Fattura 12/2026 del 02/03/2026", ["12/2026", "02/03/2026"], "INVOICE_ID INVOICE_DATE"),
        ("Factuur 2026-17\nFactuurdatum: 5 mei 2026", ["2026-17", "5 mei 2026"], "INVOICE_ID INVOICE_DATE"),
        ("Factuurnummer: 2026-17\nDatum", ["2026-17"], "INVOICE_ID"),
        ("Faktura VAT 1/02/2026\nData wystawienia: 01.02.2026", ["1/02/2026", "01.02.2026"], "INVOICE_ID INVOICE_DATE"),
        ("FACTURE N° 12-2026", ["12-2026"], "INVOICE_ID"),
        ("Invoice No: 03/2026", ["03/2026"], "INVOICE_ID"),
        ("Invoice # 12/03/2026", ["12/03/2026"], "INVOICE_ID"),
        ("Invoice 12-03-2026\nDate 15-03-2026", ["12-03-2026", "15-03-2026"], "INVOICE_ID INVOICE_DATE"),
        ("Invoice 12-03-2026\nDue 15-03-2026", ["12-03-2026", "15-03-2026"], "INVOICE_DATE DUE_DATE"),
        ("Invoice 12-03-2026", ["12-03-2026"], "INVOICE_DATE"),
        ("Rechnung 03/2026\nSeite 04/2026", ["03/2026", "04/2026"], "INVOICE_DATE INVOICE_DATE"),
        ("Rechnung vom 02.03.2026, 05.03.2026", ["02.03.2026", "05.03.2026"], "INVOICE_DATE INVOICE_DATE"),
        ("Invoice 3 March 2026, 4 March 2026", ["3 March 2026", "4 March 2026"], "INVOICE_DATE INVOICE_DATE"),
        ("Bestellung Nr. 12/2026", ["12/2026"], "PURCHASE_ORDER"),
        ("Original invoice no. 12/2026", ["12/2026"], "ID_NUMBER"),
    ],
)
def test_a_number_that_looks_like_a_date_has_the_label_of_a_number(text: str, found: list[str], labels: str) -> None:
    numbers = ("INVOICE_ID", "PURCHASE_ORDER", "ID_NUMBER")
    entities = [entity(text, "INVOICE_DATE", each) for each in found]
    assert " ".join(each.label for each in named_dates(text, entities, numbers)) == labels
    assert "INVOICE_ID" not in [each.label for each in named_dates(text, entities, ())]


@pytest.mark.parametrize(
    ("text", "number", "said", "is_"),
    [
        ("Invoice date: 20250902", "20250902", "INVOICE_ID", "INVOICE_DATE"),
        ("Fällig: 20251002", "20251002", "INVOICE_ID", "DUE_DATE"),
        ("Date: 02OCT2025", "02OCT2025", "ID_NUMBER", "INVOICE_DATE"),
        ("Invoice date: 20250902T233000Z", "20250902T233000Z", "PURCHASE_ORDER", "INVOICE_DATE"),
        ("Delivery date: 20250902", "20250902", "QUANTITY", "DATE"),
        ("Datum factuur: 12MRT2026", "12MRT2026", "INVOICE_ID", "INVOICE_DATE"),
        ("Datum factuur: 20260312", "20260312", "INVOICE_ID", "INVOICE_DATE"),
        ("Date de facture : 18/09/2026", "18/09/2026", "INVOICE_ID", "INVOICE_DATE"),
        ("Facture 18/09/2026", "18/09/2026", "INVOICE_ID", "INVOICE_ID"),
        ("Date: 1févr2026", "1févr2026", "INVOICE_ID", "INVOICE_DATE"),
        ("Fecha: 03ENE26", "03ENE26", "INVOICE_ID", "INVOICE_DATE"),
        ("Date: 4-août-2026", "4-août-2026", "INVOICE_ID", "INVOICE_DATE"),
        ("Invoice date: 01.02.2025 No 1ABC25", "1ABC25", "ID_NUMBER", "ID_NUMBER"),
        ("Invoice date / no.: 12INV2025", "12INV2025", "INVOICE_ID", "INVOICE_ID"),
        ("Bestelldatum 12ABC2025", "12ABC2025", "PURCHASE_ORDER", "PURCHASE_ORDER"),
        ("Invoice number: 20250902", "20250902", "INVOICE_ID", "INVOICE_ID"),
        ("20250902", "20250902", "INVOICE_ID", "INVOICE_ID"),
        ("Invoice date: 20251302", "20251302", "INVOICE_ID", "INVOICE_ID"),
        ("Date\nOrder No. 20250902", "20250902", "INVOICE_ID", "INVOICE_ID"),
        ("Invoice date: 20250902", "20250902", "PERSON", "PERSON"),
    ],
)
def test_a_date_without_gaps_is_no_number_behind_a_date_s_key(text: str, number: str, said: str, is_: str) -> None:
    (found,) = named_dates(text, [entity(text, said, number)], ("INVOICE_DATE", "DUE_DATE", "DATE"))
    assert found.label == is_
    assert named_dates(text, [entity(text, said, number)], ()) == [entity(text, said, number)]


@pytest.mark.parametrize(
    ("text", "label"), [("Rechnung Nr. 88", "INVOICE_ID"), ("Rechnung 88", "QUANTITY"), ("Menge 88", "QUANTITY")]
)
def test_a_short_number_of_a_bill_is_no_count(text: str, label: str) -> None:
    (found,) = named_dates(text, [entity(text, "QUANTITY", "88")], ("INVOICE_ID",))
    assert found.label == label


@pytest.mark.parametrize(
    ("text", "has_order"), [("RO-17\nRO-17", False), ("RO-17\nYour order RO-17", True), ("RO-17\nRO-18", True)]
)
def test_one_number_is_not_of_the_bill_and_of_an_order(text: str, has_order: bool) -> None:
    found = roles(text, ("INVOICE_ID", "RO-17"), ("PURCHASE_ORDER", text[-5:]))
    assert ("PURCHASE_ORDER" in found) is has_order


def test_a_bills_number_is_no_tax_number() -> None:
    text = "Nota Fiscal nº 000.123.456"
    (found,) = named_dates(text, [entity(text, "TAX_ID", "000.123.456")], ("INVOICE_ID",))
    assert found.label == "INVOICE_ID"
    text = "CNPJ 12.345.678"
    (found,) = named_dates(text, [entity(text, "TAX_ID", "12.345.678")], ("INVOICE_ID",))
    assert found.label == "TAX_ID"
    for text, label in (("Fatura No: BRG2026000341", "INVOICE_ID"), ("Fatura BRG2026000341", "TAX_ID")):
        (found,) = named_dates(text, [entity(text, "TAX_ID", "BRG2026000341")], ("INVOICE_ID",))
        assert found.label == label


def chosen(text: str, *found: tuple[str, str] | tuple[str, str, float], is_credit: bool = False) -> dict[str, str]:
    """Role → the chosen text, with a question mark where the choice is doubtful."""
    choices = choose_named(mentions_in(text, *found), TextLines(text), is_credit=is_credit)
    return {label: choice.best.text + "?" * choice.is_doubtful for label, choice in choices.items()}


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        ("Fattura del 08/05/2026\nPagato con Visa il 09/05/2026", [("DUE_DATE", "09/05/2026", 0.9)], {}),
        ("Prochaine facture vers le 29/03/2021", [("DUE_DATE", "29/03/2021", 0.9)], {}),
        ("nächste Rechnung am 29.03.2021", [("INVOICE_DATE", "29.03.2021", 0.9)], {"INVOICE_DATE": "29.03.2021?"}),
        (
            "07-04-2017\nDate d'expiration 31/05/18",
            [("INVOICE_DATE", "07-04-2017", 0.4), ("INVOICE_DATE", "31/05/18", 0.9)],
            {"INVOICE_DATE": "07-04-2017"},
        ),
        (
            "Geldig tot 1-6-2026\nFactuurdatum 2-5-2026",
            [("INVOICE_DATE", "1-6-2026", 0.9), ("DUE_DATE", "2-5-2026", 0.4)],
            {"INVOICE_DATE": "2-5-2026"},
        ),
        (
            "Period 01/02/2026 - 28/02/2026, INVOICE 02/03/2026",
            [("DATE", "01/02/2026 - 28/02/2026"), ("DUE_DATE", "02/03/2026", 0.4)],
            {"DUE_DATE": "02/03/2026", "SUPPLY_DATE": "01/02/2026 - 28/02/2026"},
        ),
        ("Due 7 DEL 15", [("DUE_DATE", "7 DEL 15")], {}),
        (
            "Due 12.04.2026, discount until 22.05.2026",
            [("DUE_DATE", "12.04.2026"), ("DATE", "22.05.2026")],
            {"DUE_DATE": "12.04.2026?", "DISCOUNT_DATE": "22.05.2026?"},
        ),
        (
            "Due 12.05.2026, discount until 22.04.2026",
            [("DUE_DATE", "12.05.2026"), ("DATE", "22.04.2026")],
            {"DUE_DATE": "12.05.2026", "DISCOUNT_DATE": "22.04.2026"},
        ),
        ("Due 01.02.2026 - 28.02.2026", [("DUE_DATE", "01.02.2026 - 28.02.2026")], {}),
    ],
)
def test_a_day_of_something_else_fills_no_role(
    text: str, found: list[tuple[str, str] | tuple[str, str, float]], said: dict[str, str]
) -> None:
    assert chosen(text, *found) == said


@pytest.mark.parametrize(
    ("text", "invoice", "due", "said"),
    [
        ("Issued 2026-03-02\nDue 2026-04-01", "2026-03-02", "2026-04-01", ("2026-03-02", "2026-04-01")),
        ("Issued 2026-03-02\nDue 2026-02-01", "2026-03-02", "2026-02-01", ("2026-03-02?", "2026-02-01?")),
        ("Issued 2026-03-02\nDue 2028-03-02", "2026-03-02", "2028-03-02", ("2026-03-02?", "2028-03-02?")),
        ("Issued 2026-03-02\nwe met 2026-02-01", "2026-03-02", "2026-02-01", ("2026-03-02", "")),
        ("Issued 03/02/2026\nDue 02/03/2026", "03/02/2026", "02/03/2026", ("03/02/2026", "02/03/2026")),
        ("Issued March 2026\nDue 2026-02-01", "March 2026", "2026-02-01", ("March 2026", "2026-02-01")),
    ],
)
def test_a_bill_is_due_after_its_date_and_within_a_year(
    text: str, invoice: str, due: str, said: tuple[str, str]
) -> None:
    found = chosen(text, ("INVOICE_DATE", invoice), ("DUE_DATE", due))
    assert (found.get("INVOICE_DATE"), found.get("DUE_DATE", "")) == said


def test_the_day_of_the_letter_goes_before_a_date_in_its_foot() -> None:
    text = "München, den 01.11.2024\nDatum: 30.10.2024 Zeit: 04:59"
    found = chosen(text, ("INVOICE_DATE", "01.11.2024", 0.51), ("INVOICE_DATE", "30.10.2024", 0.52))
    assert found == {"INVOICE_DATE": "01.11.2024"}


def test_of_several_dates_the_pair_counts_that_fits() -> None:
    text = "Date 2026-03-02\nprinted for 2026-01-31\nDue 2026-04-01"
    first = chosen(
        text, ("INVOICE_DATE", "2026-03-02", 0.4), ("DUE_DATE", "2026-01-31", 0.95), ("DUE_DATE", "2026-04-01", 0.3)
    )
    assert first == {"INVOICE_DATE": "2026-03-02", "DUE_DATE": "2026-04-01"}
    text = "Seen 2026-05-02\nmet 2026-03-02\nDue 2026-04-01"
    second = chosen(
        text, ("INVOICE_DATE", "2026-05-02", 0.9), ("INVOICE_DATE", "2026-03-02", 0.3), ("DUE_DATE", "2026-04-01")
    )
    assert second == {"INVOICE_DATE": "2026-03-02?", "DUE_DATE": "2026-04-01"}


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        (
            "Order no. SO-77120\nYour PO HB-3321",
            [("PURCHASE_ORDER", "SO-77120", 0.9), ("ID_NUMBER", "HB-3321", 0.3)],
            {"PURCHASE_ORDER": "HB-3321"},
        ),
        (
            "Bestelling: 4401\nOns ordernr: 99812",
            [("ID_NUMBER", "4401", 0.3), ("PURCHASE_ORDER", "99812", 0.9)],
            {"PURCHASE_ORDER": "4401"},
        ),
        ("Order no. SO-77120", [("ID_NUMBER", "SO-77120")], {"PURCHASE_ORDER": "SO-77120"}),
        ("Sales order SO-77120", [("PURCHASE_ORDER", "SO-77120")], {}),
        (
            "P.O.# 2412/2019\nInvoice # INT-001",
            [("INVOICE_ID", "2412/2019", 0.9), ("ID_NUMBER", "INT-001", 0.3)],
            {"INVOICE_ID": "INT-001", "PURCHASE_ORDER": "2412/2019"},
        ),
        ("Nº de cliente 55021", [("INVOICE_ID", "55021")], {}),
        ("Contratto n. 7781", [("INVOICE_ID", "7781")], {}),
        ("Sayaç no: 10992", [("INVOICE_ID", "10992")], {}),
        (
            "Verwendungszweck: 2026-17",
            [("INVOICE_ID", "2026-17")],
            {"INVOICE_ID": "2026-17", "PAYMENT_REFERENCE": "2026-17"},
        ),
        ("OCR 1234566", [("ID_NUMBER", "1234566")], {"PAYMENT_REFERENCE": "1234566"}),
    ],
)
def test_a_number_is_what_its_key_says(
    text: str, found: list[tuple[str, str] | tuple[str, str, float]], said: dict[str, str]
) -> None:
    assert chosen(text, *found) == said


def test_the_bill_that_a_credit_note_names_is_another_one() -> None:
    text = "Credit note CN-9\nDate: 5 March 2026\nInvoice no: 4711\nInvoice date: 3 March 2026"
    found: list[tuple[str, str, float]] = [
        ("ID_NUMBER", "CN-9", 0.3), ("DATE", "5 March 2026", 0.5), ("INVOICE_ID", "4711", 0.9),
        ("INVOICE_DATE", "3 March 2026", 0.9),
    ]  # fmt: skip
    assert chosen(text, *found, is_credit=True) == {"INVOICE_ID": "CN-9", "INVOICE_DATE": "5 March 2026"}
    assert chosen(text, *found) == {"INVOICE_ID": "4711", "INVOICE_DATE": "3 March 2026"}
    alone = "Invoice date: 3 March 2026"
    assert chosen(alone, ("INVOICE_DATE", "3 March 2026"), is_credit=True) == {"INVOICE_DATE": "3 March 2026?"}


@pytest.mark.parametrize(
    ("words", "valid"), [("KID: 30219001", False), ("KID: 1234567897", True), ("Payment reference: 30219001", None)]
)
def test_a_reference_with_a_wrong_check_digit_is_not_valid(words: str, valid: bool | None) -> None:
    text = f"Faktura nr. 30219\n{words}"
    found = mentions_in(text, ("INVOICE_ID", "30219"), ("PAYMENT_REFERENCE", words.split()[-1]))
    assert choose_named(found, TextLines(text))["PAYMENT_REFERENCE"].best.value.valid is valid
    assert choose_named(found[1:], TextLines(text))["PAYMENT_REFERENCE"].best.value.valid is valid


def is_doubtful(text: str, *days: str) -> bool:
    found = mentions_in(text, *(("INVOICE_DATE", day) for day in days))
    return choose_named(found, TextLines(text))["INVOICE_DATE"].is_doubtful


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("Invoice 7\n22 June 2026", False),
        ("Ljubljana, 22 June 2026", False),
        ("Invoice 7 on 22 June 2026", False),
        ("Wedding reception, 22 June 2026, Raven Hall", True),
        ("Buffet du grand mariage 22 June 2026", True),
        ("22 June 2026\tCheck-up\t40.00", True),
    ],
)
def test_a_day_without_words_is_the_bills_only_if_it_stands_alone(text: str, doubtful: bool) -> None:
    assert is_doubtful(text, "22 June 2026") is doubtful


def test_two_days_without_words_are_doubtful_but_not_beside_rows() -> None:
    assert is_doubtful("22 June 2026\n23 June 2026", "22 June 2026", "23 June 2026")
    assert not is_doubtful("22 June 2026\n23 June 2026\tTooth\t40.00", "22 June 2026", "23 June 2026")
    assert not is_doubtful("Date: 22 June 2026\n23 June 2026", "22 June 2026", "23 June 2026")


def test_the_number_of_a_row_of_bills_is_not_the_papers() -> None:
    text = "Invoice 54877\t17/04/2026\t288.00\nINVOICE 55120\nInvoice date 17/06/2026"
    found = mentions_in(text, ("INVOICE_ID", "54877", 0.9), ("INVOICE_ID", "55120", 0.4))
    assert choose_named(found, TextLines(text))["INVOICE_ID"].best.text == "55120"
