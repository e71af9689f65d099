"""Reads electronic invoices: EN 16931's two XML syntaxes, CII (Factur-X, ZUGFeRD) and UBL (Peppol).

An invoice's XML is a file of its own, whose text `invoice_text` writes, or an attachment of a PDF. `invoice_syntaxes`
and the table of roles have the paths.
"""

from __future__ import annotations

import re
from typing import Any, cast

from lxml import etree

from service.core.decoding.value import Value, ValueKind
from service.core.errors import UnreadableDocument
from service.core.fields.roles import DUE, ROLES, TOTAL, Paths
from service.core.fields.stated_invoice import (
    MOST_DIGITS,
    MOST_ROWS,
    MOST_VALUE_CHARACTERS,
    ElectronicInvoice,
    InvoiceRow,
    StatedTax,
)
from service.documents.document import Document, UnreadAttachment
from service.documents.invoice_syntaxes import OLD_NAMES, OLD_ROW_AMOUNT, SYNTAXES, Syntax
from service.documents.invoice_text import invoice_text
from service.documents.invoice_values import (
    amount_at,
    currency_name,
    decimal_of,
    elements_at,
    first_text,
    iso_day,
    money,
    percentage,
    quantity_of,
)
from service.documents.limits import DocumentLimits

_SAMPLE_BYTES = 65_536
"""Bytes within which an invoice's root must begin; terms of use may stand before it."""
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_ATTACHED_NAMES = frozenset(("factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml"))
"""Names of an invoice's attachment in Factur-X, ZUGFeRD and XRechnung."""
MOST_TAGS = 1_000_000
"""Tags of an XML, counted before a tree of them is built; an invoice of most rows has fewer."""
MOST_NAME_CHARACTERS = 200
"""Most characters of an attachment's name in an answer."""
_ROOT = re.compile(
    rb"<(?:[\w.-]{1,40}:)?(?:CrossIndustry(?:Invoice|Document)|Invoice|CreditNote)\b[^<>]{0,3000}?"
    rb"(?:urn:un:unece:uncefact:data:standard:CrossIndustryInvoice|urn:ferd:CrossIndustryDocument|"
    rb"urn:oasis:names:specification:ubl:schema:xsd:(?:Invoice|CreditNote)-2)"
)


def is_electronic_invoice(data: bytes) -> bool:
    """True if a file begins like the XML of an invoice, in one of the two syntaxes."""
    start = data[:_SAMPLE_BYTES]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in start[:4]:
        start = start.replace(b"\x00", b"").lstrip(b"\xff\xfe")
    return (
        start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<" and _ROOT.search(_COMMENT.sub(b"", start)) is not None
    )


def read_electronic_invoice(data: bytes, *, limits: DocumentLimits) -> Document:
    """Read an invoice's XML as a document, its text written for people.

    Raises:
        UnreadableDocument: the XML is not well formed, has a document type, or is no invoice.
        DocumentTooLarge: the text is over a limit.
    """
    root = _parsed(data)
    invoice = _invoice(root, None)
    text, parts = invoice_text(root, SYNTAXES[root.tag], invoice)
    limits.check_characters(len(text))
    return Document(text, invoice=invoice, stated=parts)


def attached_invoice(name: str, data: bytes | None) -> ElectronicInvoice | UnreadAttachment | None:
    """Read the invoice in a PDF's attachment (bytes are None if it is damaged); None if it is another file."""
    if data is None or not is_electronic_invoice(data):
        is_meant = name.lower() in _ATTACHED_NAMES
        return UnreadAttachment(name, "It does not begin as the XML of an invoice does.") if is_meant else None
    try:
        return _invoice(_parsed(data), name[:MOST_VALUE_CHARACTERS])
    except UnreadableDocument as error:
        return UnreadAttachment(name[:MOST_NAME_CHARACTERS], error.detail)


def _parsed(data: bytes) -> etree._Element:
    """Parse the XML without namespaces, comments and instructions, and with CII's names for those of ZUGFeRD 1."""
    if data.count(b"<") > MOST_TAGS:
        raise UnreadableDocument(f"The XML has more than {MOST_TAGS:,} tags.")
    is_utf8 = not data.isascii() and _is_valid_utf8(data)  # whatever its declaration says
    parser = etree.XMLParser(
        encoding="utf-8" if is_utf8 else None,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument(f"The XML is not well formed ({str(error)[:120]}).") from None
    if cast(Any, root.getroottree().docinfo).doctype:
        raise UnreadableDocument("The XML has a document type, which an electronic invoice must not have.")
    for element in root.iter(etree.Element):
        local = str(element.tag).rpartition("}")[2]
        element.tag = OLD_NAMES.get(local, local)
    if root.tag not in SYNTAXES:
        raise UnreadableDocument(f"The XML is no invoice: its root is {str(root.tag)[:80]!r}.")
    return root


def _is_valid_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _invoice(root: etree._Element, file: str | None) -> ElectronicInvoice:
    syntax = SYNTAXES[root.tag]
    currency = currency_name(first_text(root, (syntax.currency,)))
    stated = ((role, _value(root, role.kind, syntax.roles[role.label], currency)) for role in ROLES)
    roles = {role.label: value for role, value in stated if value is not None}
    rows = root.findall(syntax.row)
    if len(rows) > MOST_ROWS:
        raise UnreadableDocument(f"The invoice has {len(rows):,} rows; the limit is {MOST_ROWS:,}.")
    due, total = roles.get(DUE), roles.get(TOTAL)
    is_other = due is not None and total is not None and due.number != total.number
    taxes = root.findall(syntax.tax)
    if len(taxes) > MOST_ROWS:
        raise UnreadableDocument(f"The invoice has {len(taxes):,} taxes; the limit is {MOST_ROWS:,}.")
    default = "381" if root.tag == "CreditNote" else "380"
    return ElectronicInvoice(
        syntax.name,
        first_text(root, (syntax.profile,)),
        file,
        first_text(root, syntax.type_code) or default,
        currency,
        roles,
        tuple(_row(row, syntax, currency) for row in rows),
        due if is_other else None,
        tuple(_tax(tax, syntax, currency) for tax in taxes),
    )


def _value(root: etree._Element, kind: ValueKind, paths: Paths, currency: str | None) -> Value | None:
    """Read a role's value; None where the XML has no value of this kind."""
    if kind is ValueKind.MONEY:
        return amount_at(root, paths, currency)
    if kind is ValueKind.DATE:
        found = (_day_or_period(each) for path in paths for each in elements_at(root, path))
        text = next(filter(None, found), "")
    else:
        text = first_text(root, paths)
    if kind is ValueKind.PERCENT:
        return percentage(text)
    return Value(kind, text) if text else None


def _row(row: etree._Element, syntax: Syntax, currency: str | None) -> InvoiceRow:
    count = row.find(syntax.quantity)
    price, base = amount_at(row, (syntax.price,), currency), decimal_of(first_text(row, (syntax.price_base,)))
    if price is not None and price.number is not None and base:
        of_one = price.number / base
        price = money(round(of_one, 6), price.unit) if of_one.adjusted() < MOST_DIGITS else None
    return InvoiceRow(
        first_text(row, syntax.row_texts),
        None if count is None else quantity_of(count),
        price,
        amount_at(row, (syntax.row_amount, OLD_ROW_AMOUNT), currency),
    )


def _tax(tax: etree._Element, syntax: Syntax, currency: str | None) -> StatedTax:
    """Read the tax of one category; a category without a rate is not taxed."""
    rate = percentage(first_text(tax, syntax.tax_rate) or "0")
    return StatedTax(rate, amount_at(tax, (syntax.tax_base,), currency), amount_at(tax, (syntax.tax_amount,), currency))


def _day_or_period(element: etree._Element) -> str:
    """Write the day of an element, or both days of a period as ISO 8601 does: `2018-03-01/2018-03-31`."""
    days = [day for text in element.itertext() if (day := iso_day("".join(str(text).split())))]
    if len(element) == 0 or not days:
        return "".join(days)
    return "/".join(days) if len(days) == 2 and days[0] <= days[1] else ""
