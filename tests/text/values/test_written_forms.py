"""Amounts, dates and identifiers of `written_forms.tsv` have their values, as each country writes them.

A row: the label, the document that the form stands in (a key of `DOCUMENTS`), the form with `\\n`, `\\t` and `\\u....`
for what is not seen, and its value: `-` is none, two readings have `|` between them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.core.decoding.value import ValueKind
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

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
