"""Reads electronic invoices: EN 16931's two XML syntaxes, CII (Factur-X, ZUGFeRD) and UBL (Peppol).

An invoice's XML is a file of its own, or an attachment of a PDF. The text of a file is written for people: parties,
rows and sums under their names, then the XML's other texts. `invoice_syntaxes` and the table of roles have the paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, DecimalException
from itertools import chain
from typing import Any, cast

from lxml import etree

from service.core.decoding.value import Value, ValueKind
from service.core.errors import UnreadableDocument
from service.core.fields.electronic_invoice import (
    MOST_DIGITS,
    MOST_ROWS,
    MOST_VALUE_CHARACTERS,
    ElectronicInvoice,
    InvoiceRow,
    StatedTax,
    is_sound_number,
)
from service.core.fields.roles import DUE, ROLES, TOTAL, Paths, RoleGroup
from service.documents.document import Document, UnreadAttachment
from service.documents.invoice_syntaxes import OLD_NAMES, OLD_ROW_AMOUNT, SYNTAXES, Syntax
from service.documents.limits import DocumentLimits

_SAMPLE_BYTES = 65_536
"""Bytes within which an invoice's root must begin; terms of use may stand before it."""
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_ATTACHED_NAMES = frozenset(("factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml"))
"""Names of an invoice's attachment in Factur-X, ZUGFeRD and XRechnung."""
MOST_NAME_CHARACTERS = 200
"""Most characters of an attachment's name in an answer."""
_LONGEST_CURRENCY = 16
"""Most characters of a currency's name; a longer one is dropped."""
_ROOT = re.compile(
    rb"<(?:[\w.-]{1,40}:)?(?:CrossIndustry(?:Invoice|Document)|Invoice|CreditNote)\b[^<>]{0,3000}?"
    rb"(?:urn:un:unece:uncefact:data:standard:CrossIndustryInvoice|urn:ferd:CrossIndustryDocument|"
    rb"urn:oasis:names:specification:ubl:schema:xsd:(?:Invoice|CreditNote)-2)"
)
_EARLY_PAYMENT = re.compile(r"#SKONTO#TAGE=[0-9]{1,4}#PROZENT=([0-9]{1,3}(?:\.[0-9]{1,4})?)#")
_UNITS = {
    "GRM": "gram", "KGM": "kilogram", "TNE": "metric-ton", "LTR": "liter", "MLT": "milliliter", "MTR": "meter",
    "CMT": "centimeter", "KMT": "kilometer", "MTK": "square-meter", "MTQ": "cubic-meter", "MIN": "minute",
    "HUR": "hour", "DAY": "day", "WEE": "week", "MON": "month", "ANN": "year", "KWH": "kilowatt-hour",
}  # fmt: skip
"""UN/ECE Recommendation 20 → CLDR's name of the unit; pieces have none."""


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
    text = "\n".join(_lines(root, SYNTAXES[root.tag], invoice))
    limits.check_characters(len(text))
    return Document(text, invoice=invoice)


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
    currency = _currency(_first(root, (syntax.currency,)))
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
        _first(root, (syntax.profile,)),
        file,
        _first(root, syntax.type_code) or default,
        currency,
        roles,
        tuple(_row(row, syntax, currency) for row in rows),
        due if is_other else None,
        tuple(_tax(tax, syntax, currency) for tax in taxes),
    )


def _value(root: etree._Element, kind: ValueKind, paths: Paths, currency: str | None) -> Value | None:
    """Read a role's value; None where the XML has no value of this kind."""
    if kind is ValueKind.MONEY:
        return _amount(root, paths, currency)
    if kind is ValueKind.DATE:
        found = (_day_or_period(each) for path in paths for each in _found(root, path))
        text = next(filter(None, found), "")
    else:
        text = _first(root, paths)
    if kind is ValueKind.PERCENT:
        return _percentage(text)
    return Value(kind, text) if text else None


def _row(row: etree._Element, syntax: Syntax, currency: str | None) -> InvoiceRow:
    count = row.find(syntax.quantity)
    price, base = _amount(row, (syntax.price,), currency), _decimal(_first(row, (syntax.price_base,)))
    if price is not None and price.number is not None and base:
        of_one = price.number / base
        price = _money(round(of_one, 6), price.unit) if of_one.adjusted() < MOST_DIGITS else None
    return InvoiceRow(
        _first(row, syntax.row_texts),
        None if count is None else _quantity(count),
        price,
        _amount(row, (syntax.row_amount, OLD_ROW_AMOUNT), currency),
    )


def _tax(tax: etree._Element, syntax: Syntax, currency: str | None) -> StatedTax:
    """Read the tax of one category; a category without a rate is not taxed."""
    rate = _percentage(_first(tax, syntax.tax_rate) or "0")
    return StatedTax(rate, _amount(tax, (syntax.tax_base,), currency), _amount(tax, (syntax.tax_amount,), currency))


def _percentage(text: str) -> Value | None:
    """Read a percentage, or that of an early payment in the terms of XRechnung (`#SKONTO#TAGE=14#PROZENT=2.25#`)."""
    found = _EARLY_PAYMENT.search(text)
    number = _decimal(found[1] if found else text)
    if number is None:
        return None
    short = Decimal(f"{number.normalize():f}")
    return Value(ValueKind.PERCENT, f"{short:f}", number=short)


def _found(element: etree._Element, path: str) -> list[etree._Element]:
    return cast(list[etree._Element], element.xpath(path))


def _first(element: etree._Element, paths: tuple[str, ...]) -> str:
    """Find the first text that a path leads to, its white space folded; empty without one."""
    for path in paths:
        for found in _found(element, path):
            if text := " ".join((found.text or "").split()):
                return text[:MOST_VALUE_CHARACTERS]
    return ""


def _amount(element: etree._Element, paths: tuple[str, ...], currency: str | None) -> Value | None:
    """Read an amount; of several the one in the invoice's currency, since a tax may be in another one as well."""
    for path in paths:
        found = element.findall(path)
        in_currency = [each for each in found if each.get("currencyID") in (currency, None)]
        for each in in_currency or found:
            if (number := _decimal(each.text or "")) is not None:
                return _money(number, _currency(each.get("currencyID")) or currency)
    return None


def _currency(text: str | None) -> str | None:
    return text if text and len(text) <= _LONGEST_CURRENCY else None


def _money(number: Decimal, currency: str | None) -> Value:
    """Make an amount with at least two decimals."""
    if -int(number.normalize().as_tuple().exponent) < 2:
        number = number.quantize(Decimal("0.01"))
    else:
        number = number.normalize()
    return Value(ValueKind.MONEY, f"{number:f} {currency}" if currency else f"{number:f}", number=number, unit=currency)


def _quantity(element: etree._Element) -> Value | None:
    number = _decimal(element.text or "")
    if number is None:
        return None
    unit, number = _UNITS.get(element.get("unitCode", "")), Decimal(f"{number.normalize():f}")
    return Value(ValueKind.QUANTITY, f"{number:f} {unit}" if unit else f"{number:f}", number=number, unit=unit)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except DecimalException:
        return None
    return number if is_sound_number(number) else None


def _date(text: str) -> str:
    """Write `20180305` (CII's format 102) and `2018-03-05` (UBL) as ISO 8601; empty for other texts."""
    found = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", text, re.ASCII)
    try:
        return "" if found is None else date.fromisoformat("-".join(found.groups())).isoformat()
    except ValueError:
        return ""


def _day_or_period(element: etree._Element) -> str:
    """Write the day of an element, or both days of a period as ISO 8601 does: `2018-03-01/2018-03-31`."""
    days = [day for text in element.itertext() if (day := _date("".join(str(text).split())))]
    if len(element) == 0 or not days:
        return "".join(days)
    return "/".join(days) if len(days) == 2 and days[0] <= days[1] else ""


_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _lines(root: etree._Element, syntax: Syntax, invoice: ElectronicInvoice) -> Iterator[str]:
    """Yield the lines of the text: roles under their headings, rows, sums, and the rest of the XML's texts."""
    yield "Credit note" if invoice.is_credit_note else "Invoice"
    stated = [
        (role.group is RoleGroup.SUM, f"{role.heading}: {_written(invoice.roles[role.label])}")
        for role in ROLES
        if role.label in invoice.roles
    ]
    yield from (line for is_sum, line in stated if not is_sum)
    if invoice.rows:
        yield ""
        yield "Description\tQuantity\tUnit price\tAmount"
    for row in invoice.rows:
        parts = (row.quantity, row.unit_price, row.amount)
        yield "\t".join((row.description, *(part.text if part else "" for part in parts)))
    yield ""
    yield from (line for is_sum, line in stated if is_sum)
    yield ""
    yield from _rest(root, syntax)


def _written(value: Value) -> str:
    return f"{value.text} %" if value.kind is ValueKind.PERCENT else value.text


def _rest(root: etree._Element, syntax: Syntax) -> Iterator[str]:
    """Yield the XML's other texts, those of one element on a line, under the names of the element and its parent."""
    paths = (syntax.profile, syntax.currency, *syntax.type_code, *chain(*syntax.roles.values()))
    in_rows = (*syntax.row_texts[:1], syntax.quantity, syntax.price, syntax.row_amount, OLD_ROW_AMOUNT)
    written = {found for path in paths for found in _found(root, path)[:1]}
    written.update(found for row in root.findall(syntax.row) for path in in_rows for found in row.findall(path)[:1])
    for element in root.iter(etree.Element):
        others = [_other_text(child) for child in element if isinstance(child.tag, str) and child not in written]
        if shown := ", ".join(text for text in others if text):
            around = element.getparent()
            names = (str(named.tag) for named in (around, element) if named is not None and named is not root)
            yield f"{' '.join(_WORD.sub(' ', name) for name in names)}: {shown}".removeprefix(": ")


def _other_text(element: etree._Element) -> str:
    """Return the text of an element without children; for a file in it the file's name."""
    if element.tag.endswith("BinaryObject"):
        return f"a file that is not read: {element.get('filename', 'without a name')}"
    return "\n".join(filter(None, map(str.strip, (element.text or "").splitlines()))) if len(element) == 0 else ""
