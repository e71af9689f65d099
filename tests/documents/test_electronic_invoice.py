"""Electronic invoices: every syntax, what is no invoice, hostile XML, the text that is written, and its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from service.core.decoding.value import ValueKind
from service.core.errors import DocumentTooLarge, UnreadableDocument, UnsupportedFormat
from service.core.fields.roles import ROLES
from service.core.fields.stated_invoice import MOST_ROWS
from service.documents import invoice_text
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from tests.support.document_files import simple_pdf
from tests.support.electronic_invoices import Bill, cii, hybrid, ubl, with_attachment

STATED = {
    "INVOICE_ID": "RE-2026-118",
    "INVOICE_DATE": "2026-03-12",
    "DUE_DATE": "2026-04-11",
    "SUPPLY_DATE": "2026-02-01/2026-02-28",
    "PURCHASE_ORDER": "PO 4711",
    "PAYMENT_REFERENCE": "RF18539007547034",
    "SUPPLIER_NAME": "Nordlicht Optik GmbH",
    "RECEIVER_NAME": "Café Müller & Söhne KG",
    "TAX_ID": "DE129273398",
    "RECEIVER_TAX_ID": "FR40303265045",
    "IBAN": "DE89370400440532013000",
    "BIC": "COBADEFFXXX",
    "NET_AMOUNT": "1240.50 EUR",
    "TAX_AMOUNT": "235.70 EUR",
    "TOTAL_AMOUNT": "1476.20 EUR",
    "PAID_AMOUNT": "0.00 EUR",
    "AMOUNT_DUE": "1476.20 EUR",
    "EARLY_PAYMENT_DISCOUNT": "2",
}
ROWS = [
    ("Gleitsichtgläser 1.6", "2", "420.25 EUR", "840.50 EUR"),
    ("Lesebrille +2,0", "8", "50.00 EUR", "400.00 EUR"),
]


def read(data: bytes, name: str | None = None, **limits: int) -> Document:
    return read_document(data, name=name, limits=DocumentLimits(**limits))


def old(bill: Bill) -> bytes:
    return cii(bill, old=True)


@pytest.mark.parametrize("write", [cii, old, ubl])
@pytest.mark.parametrize("code", ["380", "381"])
def test_every_syntax_states_the_same(write: Callable[[Bill], bytes], code: str) -> None:
    document = read(write(Bill(code=code)))
    invoice = document.invoice
    assert invoice is not None
    assert {label: value.text for label, value in invoice.roles.items()} == STATED
    assert [
        (row.description, *(part and part.text for part in (row.quantity, row.unit_price, row.amount)))
        for row in invoice.rows
    ] == ROWS
    assert (invoice.type_code, invoice.currency, invoice.file) == (code, "EUR", None)
    assert invoice.is_sound
    assert document.text.startswith("Credit note\n" if code == "381" else "Invoice\n")
    for said in (*(part for row in ROWS for part in row), *Bill().note.split("\n")):
        assert said in document.text
    for role in (role for role in ROLES if role.cii):
        unit = " %" if role.kind is ValueKind.PERCENT else ""
        assert f"\n{role.heading}: {STATED[role.label]}{unit}\n" in document.text
    (tax,) = invoice.taxes
    assert [part and part.text for part in (tax.rate, tax.base, tax.amount)] == ["19", "1240.50 EUR", "235.70 EUR"]


@pytest.mark.parametrize(
    ("change", "rate"),
    [
        ((b"<r:RateApplicablePercent>19.00</r:RateApplicablePercent>", b""), "0"),
        ((b"RateApplicablePercent", b"ApplicablePercent"), "19"),
        ((b">19.00</r:RateApplicablePercent>", b">8.10</r:RateApplicablePercent>"), "8.1"),
        ((b">19.00</r:RateApplicablePercent>", b">some</r:RateApplicablePercent>"), None),
    ],
)
def test_a_tax_without_a_rate_is_none(change: tuple[bytes, bytes], rate: str | None) -> None:
    invoice = read(cii(Bill()).replace(*change)).invoice
    assert invoice is not None
    assert [tax.rate and tax.rate.text for tax in invoice.taxes] == [rate]


@pytest.mark.parametrize(
    ("terms", "discount"),
    [
        ("#SKONTO#TAGE=7#PROZENT=2.25#", "2.25"),
        ("#SKONTO#TAGE=7#PROZENT=3.00#\n#SKONTO#TAGE=14#PROZENT=2.00#", "3"),
        ("30 days net", None),
        ("", None),
    ],
)
def test_the_discount_of_an_early_payment_is_a_number_or_in_the_terms(terms: str, discount: str | None) -> None:
    invoice = read(ubl(Bill()).replace(b"#SKONTO#TAGE=14#PROZENT=2.00#", terms.encode())).invoice
    assert invoice is not None
    found = invoice.roles.get("EARLY_PAYMENT_DISCOUNT")
    assert (found and found.text) == discount


def test_an_invoice_of_more_taxes_than_rows_are_read_is_refused() -> None:
    data = cii(Bill()).replace(
        b"</r:ApplicableTradeTax>", b"</r:ApplicableTradeTax>" + b"<r:ApplicableTradeTax/>" * MOST_ROWS
    )
    with pytest.raises(UnreadableDocument, match="taxes"):
        read(data)


@pytest.mark.parametrize("write", [cii, old, ubl])
def test_what_is_to_be_paid_is_said_where_a_part_was_paid(write: Callable[[Bill], bytes]) -> None:
    document = read(write(Bill(due_amount="1000")))
    assert document.invoice is not None
    assert document.invoice.amount_due is not None
    assert document.invoice.amount_due.text == "1000.00 EUR"
    assert "Amount due: 1000.00 EUR" in document.text
    paid = read(write(Bill())).invoice
    assert paid is not None
    assert paid.amount_due is None


@pytest.mark.parametrize(
    ("xml", "role", "said"),
    [
        (b"<b:ActualDeliveryDate>2026-02-28</b:ActualDeliveryDate>", "SUPPLY_DATE", "2026-02-28"),
        (b"<b:ActualDeliveryDate>soon</b:ActualDeliveryDate>", "SUPPLY_DATE", "2026-02-01/2026-02-28"),
    ],
)
def test_a_day_of_supply_is_said_before_the_period_that_is_billed(xml: bytes, role: str, said: str) -> None:
    delivery = b"<a:Delivery>" + xml + b"</a:Delivery><a:InvoicePeriod>"
    invoice = read(ubl(Bill()).replace(b"<a:InvoicePeriod>", delivery)).invoice
    assert invoice is not None
    assert invoice.roles[role].text == said


@pytest.mark.parametrize("days", [("2026-02-01", ""), ("", ""), ("2026-02-28", "2026-02-01")])
def test_a_period_has_two_days_in_order(days: tuple[str, str]) -> None:
    for write in (cii, ubl):
        invoice = read(write(replace(Bill(), supply=days))).invoice
        assert invoice is not None
        assert "SUPPLY_DATE" not in invoice.roles


def test_the_day_until_which_less_is_enough_is_stated_in_ubl() -> None:
    terms = (
        b"<a:PaymentTerms><b:SettlementDiscountPercent>2</b:SettlementDiscountPercent><a:SettlementPeriod><b:EndDate>"
        b"2026-03-26</b:EndDate></a:SettlementPeriod></a:PaymentTerms><a:PaymentMeans>"
    )
    invoice = read(ubl(Bill()).replace(b"<a:PaymentMeans>", terms)).invoice
    assert invoice is not None
    assert invoice.roles["DISCOUNT_DATE"].text == "2026-03-26"


def test_other_texts_and_files_of_the_xml_are_named() -> None:
    assert "hours.pdf" in read(ubl(Bill())).text
    more = (
        "<r:ReceivableSpecifiedTradeAccountingAccount><r:ID>K-77</r:ID></r:ReceivableSpecifiedTradeAccountingAccount>"
    )
    assert "K-77" in read(cii(Bill(), more=more)).text


@pytest.mark.parametrize(
    ("change", "name", "expected"),
    [
        ("utf-16", None, "RE-2026-118"),
        ("iso-8859-1", "a.xml", "RE-2026-118"),
        ("utf-8-sig", "a.txt", "RE-2026-118"),
    ],
)
def test_the_encoding_is_the_xmls(change: str, name: str | None, expected: str) -> None:
    text = cii(Bill()).decode().replace('encoding="UTF-8"', f'encoding="{change.removesuffix("-sig")}"')
    invoice = read(text.encode(change), name).invoice
    assert invoice is not None
    assert invoice.roles["INVOICE_ID"].text == expected
    assert invoice.roles["RECEIVER_NAME"].text == "Café Müller & Söhne KG"


def test_an_xml_that_is_utf8_is_read_so_whatever_it_declares() -> None:
    invoice = read(cii(Bill()).replace(b'encoding="UTF-8"', b'encoding="ISO-8859-1"')).invoice
    assert invoice is not None
    assert invoice.roles["RECEIVER_NAME"].text == "Café Müller & Söhne KG"


def test_a_price_for_several_pieces_is_divided() -> None:
    data = cii(Bill()).replace(b"50</r:ChargeAmount>", b"500</r:ChargeAmount><r:BasisQuantity>10</r:BasisQuantity>")
    invoice = read(data).invoice
    assert invoice is not None
    assert invoice.rows[1].unit_price is not None
    assert invoice.rows[1].unit_price.text == "50.00 EUR"


@pytest.mark.parametrize("price", [b"5E13", b"400000000000000", b"-999999999999999"])
def test_a_price_beyond_all_digits_is_left_out(price: bytes) -> None:
    divided = price + b"</r:ChargeAmount><r:BasisQuantity>0.000000000001</r:BasisQuantity>"
    invoice = read(cii(Bill()).replace(b"50</r:ChargeAmount>", divided)).invoice
    assert invoice is not None
    assert invoice.rows[1].unit_price is None
    assert invoice.is_sound


def test_a_currency_is_a_short_name() -> None:
    for name, said in (("USD", "USD"), ("E" * 2_000, None)):
        invoice = read(ubl(Bill(currency=name))).invoice
        assert invoice is not None
        assert invoice.is_sound
        assert (invoice.currency, invoice.roles["TOTAL_AMOUNT"].unit) == (said, said)


@pytest.mark.parametrize(
    ("wrong", "role"),
    [
        (b"<r:GrandTotalAmount>NaN", "TOTAL_AMOUNT"),
        (b"<r:GrandTotalAmount>1E999999", "TOTAL_AMOUNT"),
        (b"<r:GrandTotalAmount>", "TOTAL_AMOUNT"),
        (b'<u:DateTimeString format="102">20261', "INVOICE_DATE"),
        (b'<u:DateTimeString format="102">20260230', "INVOICE_DATE"),
        ('<u:DateTimeString format="102">٢٠٢٦٠٣١٢'.encode(), "INVOICE_DATE"),
    ],
)
def test_a_value_that_is_none_is_left_out(wrong: bytes, role: str) -> None:
    right = {"TOTAL_AMOUNT": b"<r:GrandTotalAmount>1476.20", "INVOICE_DATE": b'format="102">20260312'}[role]
    bill = cii(Bill()).replace(b"<r:DuePayableAmount>1476.20", b"<r:DuePayableAmount>")
    data = bill.replace(right, wrong.removeprefix(b"<u:DateTimeString "))
    assert data != bill
    invoice = read(data).invoice
    assert invoice is not None
    assert invoice.roles.keys() == STATED.keys() - {role, "AMOUNT_DUE"}


LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (cii(Bill())[:-200], "not well formed"),
        (cii(Bill()).replace(b"<!-- terms of use -->", LAUGHS).replace(b"PO 4711", b"&b;&b;"), "document type"),
        (cii(Bill()).replace(b"<!-- terms of use -->", b'<!DOCTYPE x SYSTEM "file:///etc/passwd">'), "document type"),
    ],
)
def test_a_damaged_or_hostile_xml_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why):
        read(data)
    attached = read(with_attachment(simple_pdf("Invoice 12"), data))
    assert (attached.invoice, attached.text) == (None, "Invoice 12")
    ((file, detail),) = [(each.file, each.detail) for each in attached.unread_attachments]
    assert file == "factur-x.xml"
    assert why in detail


@pytest.mark.parametrize(("name", "said"), [("ZUGFeRD-invoice.xml", 1), ("note.xml", 0), ("factur-x.pdf", 0)])
def test_an_attachment_without_an_invoice_is_said_if_its_name_promises_one(name: str, said: int) -> None:
    page = simple_pdf("Invoice 12")
    assert len(read(with_attachment(page, b"nothing", name)).unread_attachments) == said
    both = read(with_attachment(with_attachment(page, b"nothing", name), cii(Bill()), "zz.xml"))
    assert both.invoice is not None
    assert [each.file for each in both.unread_attachments] == [name] * said


def test_an_invoice_has_limits() -> None:
    many = Bill(rows=(("Pen", "1", "1", "1"),) * 10_001)
    with pytest.raises(UnreadableDocument, match="10,001 rows"):
        read(cii(many))
    with pytest.raises(DocumentTooLarge, match="characters"):
        read(cii(Bill()), max_characters=100)


def test_other_xml_is_no_invoice() -> None:
    order = cii(Bill()).replace(b"CrossIndustryInvoice", b"CrossIndustryOrder")
    with pytest.raises(UnsupportedFormat, match="application/xml"):
        read_document(order, media_type="application/xml", limits=DocumentLimits())
    assert read(b"The root <Invoice xmlns='urn:oasis:names:specification:ubl:schema:xsd:Invoice-2'>").invoice is None


@pytest.mark.parametrize("write", [cii, old, ubl])
def test_an_attached_invoice_is_read_beside_the_page(write: Callable[[Bill], bytes]) -> None:
    page = simple_pdf(*Bill().page())
    document = read(with_attachment(with_attachment(page, b"<note/>", "a.xml"), write(Bill()), "zugferd-invoice.xml"))
    assert document.invoice is not None
    assert document.invoice.file == "zugferd-invoice.xml"
    assert {label: value.text for label, value in document.invoice.roles.items()} == STATED
    assert document.text == read(page).text
    assert read(hybrid(Bill(), Bill())).invoice is not None
    assert read(page).invoice is None


def parts(data: bytes) -> list[tuple[str, str]]:
    """The parts of an invoice's text: label and words."""
    document = read(data)
    assert [each.start for each in document.stated] == sorted(each.start for each in document.stated)
    return [(each.label, document.text[each.start : each.end]) for each in document.stated]


PARTY = (
    "<a:EndpointID schemeID='EM'>pay@acme.example</a:EndpointID><a:PartyName><b:Name>Acme</b:Name></a:PartyName>"
    "<a:PostalAddress><b:ID>4098</b:ID><b:StreetName>Kai 1</b:StreetName><b:CityName>Kiel</b:CityName><a:AddressLine>"
    "<b:Line>Hof</b:Line></a:AddressLine><a:Country><b:IdentificationCode>DE</b:IdentificationCode></a:Country>"
    "</a:PostalAddress><a:Contact><b:Name>Jo Roth</b:Name><b:Telephone>030 1234</b:Telephone>"
    "<b:Telefax>none</b:Telefax></a:Contact><b:WebsiteURI>acme</b:WebsiteURI><b:URIID>https://acme.example</b:URIID>"
).replace("a:EndpointID", "b:EndpointID")


@pytest.mark.parametrize("write", [cii, old, ubl])
def test_each_role_and_row_is_a_part_with_its_label(write: Callable[[Bill], bytes]) -> None:
    found = parts(write(Bill()))
    units = {"EARLY_PAYMENT_DISCOUNT": "2 %"}
    assert {(label, units.get(label, text)) for label, text in STATED.items()} <= set(found)
    assert [text for label, text in found if label == "LINE_ITEM"] == [row[0] for row in ROWS]
    assert ("", Bill().note) in found


def test_names_of_elements_tell_the_labels_and_codes_are_no_parts() -> None:
    found = parts(ubl(Bill()).replace(b"<a:Party>", f"<a:Party>{PARTY}".encode(), 1))
    assert {
        ("EMAIL", "pay@acme.example"), ("ORGANIZATION", "Acme"), ("ADDRESS", "Kai 1, Kiel, Hof, DE"),
        ("URL", "https://acme.example"),
        ("PERSON", "Jo Roth"), ("PHONE", "030 1234"), ("", "none"), ("", "acme"), ("PERCENT", "19 %"),
        ("", "hours.pdf"),
    } <= set(found)  # fmt: skip
    assert {"S", "VAT", "380", "DE", "4098"}.isdisjoint(text for _, text in found)


def test_a_country_is_no_address_and_no_number_has_three_decimals() -> None:
    country = (
        b"<a:PostalAddress><a:Country><b:IdentificationCode>DE</b:IdentificationCode></a:Country></a:PostalAddress>"
    )
    data = ubl(Bill()).replace(b"<a:Party>", b"<a:Party>" + country, 1).replace(b">420.2500<", b">1.125<")
    found = parts(data)
    assert "ADDRESS" not in [label for label, _ in found]
    assert ("MONEY", "1.1250 EUR") in found


def test_an_account_and_short_numbers_are_told_by_their_form() -> None:
    more = "<a:PayerFinancialAccount><b:ID>DE02120300000000202051</b:ID></a:PayerFinancialAccount>"
    more += "<a:X><b:OtherID>12</b:OtherID><b:SomeID>A-77</b:SomeID><b:ThirdID>open</b:ThirdID></a:X>"
    more += "<a:Y><b:DueDate>soon</b:DueDate><b:FeeAmount>some</b:FeeAmount><b:LateAmount>5</b:LateAmount></a:Y>"
    found = parts(ubl(Bill()).replace(b"<a:PaymentTerms>", f"{more}<a:PaymentTerms>".encode(), 1))
    assert {("IBAN", "DE02120300000000202051"), ("ID_NUMBER", "A-77"), ("", "open"), ("MONEY", "5.00 EUR")} <= set(
        found
    )
    assert {("", "soon"), ("", "some")} <= set(found)
    assert "12" not in [text for _, text in found]


def test_names_and_terms_beside_those_of_the_roles_stay_in_the_text() -> None:
    name = b"<a:PartyName><b:Name>Nordlicht</b:Name></a:PartyName><a:PartyTaxScheme>"
    data = ubl(Bill()).replace(b"<a:PartyTaxScheme>", name, 1).replace(b"#SKONTO#TAGE=14#PROZENT=2.00#", b"30 days net")
    assert {("ORGANIZATION", "Nordlicht"), ("", "30 days net")} <= set(parts(data))


def test_an_invoice_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invoice_text, "MOST_PARTS", 2_000)
    many = b"<b:Note>" + b"x</b:Note><b:Note>" * 2_001 + b"</b:Note>"
    with pytest.raises(UnreadableDocument, match="2,000 values"):
        read(ubl(Bill()).replace(b"<a:PaymentTerms>", many + b"<a:PaymentTerms>", 1))
