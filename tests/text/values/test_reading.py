"""Values by labels, free labels and languages, and in the written forms of `written_forms.tsv`.

A row: the label, the document that the form stands in (a key of `DOCUMENTS`), the form with `\\n`, `\\t` and `\\u....`
for what is not seen, and its value: `-` is none, two readings have `|` between them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.builtin import model_folder
from service.core.decoding.entities import Entity
from service.core.decoding.value import ValueKind
from service.core.labels.label_set import Label
from service.text.values.context import DocumentContext
from service.text.values.names import meaning, months
from service.text.values.reading import (
    READERS,
    own_reading_labels,
    read_value,
    read_values,
    reading_label,
    shielded,
    value_kind,
)
from tests.support.fuzz.reading_target import LINES, SIGNS, WORDS, read_all


@pytest.mark.parametrize(
    ("label", "text", "kind", "value"),
    [
        (Label("invoice date"), "3 May 2024", ValueKind.DATE, "2024-05-03"),
        (Label("date of birth"), "3 May 2024", ValueKind.DATE, "2024-05-03"),
        (Label("total amount"), "EUR 1,250.00", ValueKind.MONEY, "1250.00 EUR"),
        (Label("e-mail"), "Jane@X.org", ValueKind.EMAIL, "Jane@x.org"),
        (Label("person"), "Jane  Doe", ValueKind.TEXT, "Jane Doe"),
        (Label("paid on", kind=ValueKind.DATE), "3 May 2024", ValueKind.DATE, "2024-05-03"),
        (Label("date", kind=ValueKind.TEXT), "3 May 2024", ValueKind.TEXT, "3 May 2024"),
        (Label("due date"), "soon", ValueKind.TEXT, "soon"),
    ],
)
def test_values_are_read_by_what_the_request_or_the_name_says(
    label: Label, text: str, kind: ValueKind, value: str
) -> None:
    entity = Entity(label.name, text, 0, len(text), 0.9)
    (found,) = read_values(DocumentContext(text), [entity], {label.name: reading_label(label)})
    assert (found.kind, found.text) == (kind, value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DUE_DATE", ValueKind.DATE),
        ("dueDate", ValueKind.DATE),
        ("BIRTH-DATE", ValueKind.DATE),
        ("UPDATED", ValueKind.TEXT),
        ("Gesamtbetrag", ValueKind.MONEY),
        ("RECHNUNGSDATUM", ValueKind.DATE),
        ("fecha_de_emision", ValueKind.DATE),
        ("MONTANT_TTC", ValueKind.MONEY),
        ("CANDIDATE", ValueKind.TEXT),
        ("rental_fee", ValueKind.MONEY),
        ("TOTAL_AMOUNT", ValueKind.MONEY),
        ("ID_NUMBER", ValueKind.CARD),
        ("IBAN", ValueKind.IBAN),
        ("E-Mail", ValueKind.EMAIL),
        ("WHEN", ValueKind.TEXT),
    ],
)
def test_a_model_s_own_label_is_read_by_its_name(name: str, kind: ValueKind) -> None:
    assert value_kind(Label(name)) is kind
    assert READERS.get(own_reading_labels((name,), frozenset()).get(name, name)) is READERS.get(
        reading_label(Label(name))
    )


def test_kinds_of_a_model_s_own_labels_come_before_their_names() -> None:
    kinds = frozenset({("WHEN", ValueKind.DATE), ("DATE", ValueKind.TEXT), ("WHO", ValueKind.TEXT)})
    assert own_reading_labels(("WHEN", "DATE", "WHO", "DUE_DATE"), kinds) == {"WHEN": "DATE", "DATE": ""}
    assert own_reading_labels(("WHO",), frozenset({("EMAIL", ValueKind.TEXT)})) == {"EMAIL": ""}, "of a rule"


def test_labels_of_the_built_in_model_are_read_as_they_are_named() -> None:
    config = json.loads((model_folder() / "config.json").read_text())
    labels = tuple({tag.partition("-")[2] for tag in config["id2label"].values()} - {""})
    assert own_reading_labels(labels, frozenset()) == {}


def broken(text: str, context: DocumentContext) -> NoReturn:
    raise ValueError(f"not a number: {text}")


def test_a_reader_that_raises_costs_its_value_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    context = DocumentContext("paid on 3 May 2024")
    monkeypatch.setitem(READERS, "DATE", broken)
    found = [read_value(label, "3 May 2024", context) for label in ("DATE", "DATE", "DUE_DATE")]
    assert [(each.kind, each.text) for each in found] == [
        (ValueKind.TEXT, "3 May 2024"),
        (ValueKind.TEXT, "3 May 2024"),
        (ValueKind.DATE, "2024-05-03"),
    ]
    (failure,) = context.failures
    assert (failure.reader, failure.error, failure.line[:16]) == ("broken", "ValueError", "test_reading.py:")


def test_a_failure_holds_nothing_of_the_document() -> None:
    context = DocumentContext("Jane Doe")
    assert shielded(context, "find_fields", lambda: broken(context.text, context), None) is None
    assert "Jane" not in repr(context.failures)


NO_DECIMALS = [sign for sign in SIGNS if sign.isdigit() and not sign.isdecimal()]
ODD = st.one_of(
    st.sampled_from(NO_DECIMALS), st.sampled_from(WORDS), st.characters(categories=("N", "M", "Z", "S", "P"))
)


@given(line=st.sampled_from(LINES), places=st.lists(st.tuples(st.integers(0, 40), ODD), max_size=3))
def test_no_reader_raises_whatever_stands_in_a_line(line: str, places: list[tuple[int, str]]) -> None:
    for place, odd in places:
        line = f"{line[:place]}{odd}{line[place:]}"
    read_all(line)


@pytest.mark.parametrize("form", ["March 2026 {}", "12{}.03.2026", "EUR 1{}00", "+49 30 1234{}", "{}"])
def test_no_reader_takes_a_digit_for_a_decimal(form: str) -> None:
    for sign in NO_DECIMALS:
        read_all(form.format(sign))


GERMAN = "Die Rechnung und der Betrag von der Lieferung"
MEANINGS = {"mar": {"de": "3", "fr": "4", "it": "4"}, "mon": {"de": "1", "en": "2", "fr": "1"}}


def test_the_language_of_the_document_decides_then_english_then_most() -> None:
    assert meaning(MEANINGS, "mar", DocumentContext(GERMAN)) == "3"
    assert meaning(MEANINGS, "mar", DocumentContext("")) == "4"
    assert meaning(MEANINGS, "mon", DocumentContext("")) == "2"
    assert meaning(MEANINGS, "mai", DocumentContext(GERMAN)) is None


def test_the_language_is_told_only_where_it_decides() -> None:
    context = DocumentContext(GERMAN)
    assert meaning(months(), "januar", context) == "1"
    assert "language" not in vars(context)
    meaning(MEANINGS, "mar", context)
    assert vars(context)["language"] == "de"


FOOTER, HEADER = "Agreement SM-774, printed 01.02.2026\tPage 1 of 2\n\n", "Solvang Marine AS\n"


@pytest.mark.parametrize(
    ("page", "next_page", "first", "rest", "value"),
    [
        ("due on 12 March\n", "2027 at the latest", "12 March", "2027", "2027-03-12"),
        ("fällig am 12. März \n", "2027 ohne Abzug", "12. März", "2027", "2027-03-12"),
        ("on March\n", "12, 2027 in Oslo", "March", "12, 2027", "2027-03-12"),
        ("el 12 de\n", "marzo de 2027", "12 de", "marzo de 2027", "2027-03-12"),
        ("due on 12 March in\n", "2027 at the latest", "12 March", "2027", "12 March"),
        ("due on 12 March\n", "and 2027 at the latest", "12 March", "2027", "12 March"),
        ("on 12 March 2026\n", "2027 at the latest", "12 March 2026", "2027", "2026-03-12"),
        ("due on 12 March\n" + 40 * "more text\n", "2027 at the latest", "12 March", "2027", "12 March"),
    ],
)
def test_a_date_goes_on_behind_the_footer_and_the_header(
    page: str, next_page: str, first: str, rest: str, value: str
) -> None:
    start = len(page) + len(FOOTER)
    text = f"{page}{FOOTER}{HEADER}{next_page}"
    places = page.index(first), len(page) + FOOTER.index("01.02.2026"), text.index(rest, start)
    parts = zip((first, "01.02.2026", rest), places, strict=True)
    found = [Entity("DUE_DATE", part, place, place + len(part), 0.9) for part, place in parts]
    assert read_values(DocumentContext(text), found, page_starts=[0, start])[0].text == value
    if first == "12 March":
        assert read_values(DocumentContext(text), found)[0].text == first


DOCUMENTS = {
    "": "",
    "ar": "التاريخ والمبلغ",
    "au": "Tax invoice of Acme Pty Ltd, ABN 51 824 753 556, total amount",
    "bank": "Bank statement: opening balance, closing balance",
    "birth-de": "Geburtsdatum: 12.05.41",
    "birth-fr": "Née le 12/05/67",
    "birth-us": "Date of birth: 03/15/58",
    "ca": "Total CAD, tax GST",
    "cn": "开票 人民币 合计 金额",
    "dk": "Faktura dato, beløb og moms, ikke betalt, forfaldsdato",
    "euro": "Invoice of the supplier, total € 5.00",
    "fa": "تاریخ پرداخت و مبلغ",
    "gb": "Acme Ltd, 10 High Street, London SW1A 1AA, total amount",
    "hr": "Račun: datum, iznos, ukupno, kupac, dospijeća",
    "in": "GSTIN 27AAPFU0939F1ZV, total amount",
    "jp": "領収書です。ありがとうございました",
    "jp-kanji": "請求書 発行日 株式会社青葉製作所 御中 合計金額 消費税 支払期限 振込先",
    "my": "Kedai Acme Sdn Bhd, total RM 12.00",
    "pl": "Faktura: data, kwota, razem, sprzedawca, nabywca, termin",
    "se": "Faktura datum: belopp och moms, inte betald, förfallodatum",
    "sn": "Facture du client, Dakar, Sénégal, montant total et date",
    "th": "ใบเสร็จรับเงิน วันที่",
    "tw": "統一編號 12345678 金額",
    "us": "Invoice, Cheyenne, WY 82001, total amount due",
    "us-tax": "Subtotal $5.00, Sales Tax $0.50",
}
TABLE = Path(__file__).with_name("written_forms.tsv")
ROWS = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines()[1:]]
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|([nt]))")


@pytest.mark.parametrize(("label", "document", "text", "value"), ROWS)
def test_written_form(label: str, document: str, text: str, value: str) -> None:
    text = ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else {"n": "\n", "t": "\t"}[match[2]], text)
    found = read_value(label, text, DocumentContext(DOCUMENTS.get(document, "")))
    if value == "-":
        assert found.kind is ValueKind.TEXT
    elif "|" in value:
        assert "|".join(found.ambiguous) == value
    else:
        assert (found.text, found.ambiguous) == (value, ())
        assert found.kind is not ValueKind.TEXT


def test_the_table_is_no_smaller_than_promised() -> None:
    assert len(ROWS) >= 400
    assert {document for _, document, _, _ in ROWS if len(document) > 2} <= set(DOCUMENTS)
