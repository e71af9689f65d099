"""Invoice text: writes an electronic invoice's XML for people, and says what each part of the text is.

Roles, rows and sums stand under captions; then the XML's other texts, those of one element on a line, under the names
of the element and its parent. All texts of an address are one part. A number never has three decimals, which may be
read as thousands.

The names of elements tell the labels: UBL 2.1 and CII D16B write dates, amounts, numbers, codes and identifiers under
names of one ending each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from lxml import etree

from service.core.decoding.value import Value, ValueKind
from service.core.errors import UnreadableDocument
from service.core.fields.roles import RECEIVER, ROLES, SUPPLIER, RoleGroup
from service.core.fields.stated_invoice import LINE_ITEM, ORGANIZATION, PERSON, ElectronicInvoice, StatedPart
from service.documents.invoice_syntaxes import OLD_ROW_AMOUNT, Syntax
from service.documents.invoice_values import (
    currency_name,
    decimal_of,
    elements_at,
    iso_day,
    money,
    percentage,
    quantity_of,
)

MOST_PARTS = 200_000
"""Most parts of a text: some twenty for each of the most rows."""
CODE = None
"""Label of codes and numbers of rows, which are no parts."""
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THREE_DECIMALS = re.compile(r"(\.[0-9]{3})(?![0-9])")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9 ]{11,36}")
_CODES = ("Code", "Indicator", "VersionID", "CustomizationID", "ProfileID", "LineID", "CountryID", "Numeric")
"""Endings of the names of codes."""
_NUMBERED = ("TaxScheme", "TaxCategory", "Country", "Parameter", "Line", "LineItem", "AllowanceCharge", "PaymentMeans")
"""Endings of the names of elements whose own ID is a code, or counts them."""
_SHORTEST_NUMBER = 3
"""Least characters of an identifier; a shorter one counts something."""
_BY_NAME = {
    "Telephone": "PHONE", "Telefax": "PHONE", "CompleteNumber": "PHONE", "ElectronicMail": "EMAIL", "BICID": "BIC",
    "IBANID": "IBAN", "PersonName": PERSON, "FirstName": PERSON, "FamilyName": PERSON, "BuyerReference": "ID_NUMBER",
    "PartyName/Name": ORGANIZATION, "RegistrationName": ORGANIZATION, "TradingBusinessName": ORGANIZATION,
    "Contact/Name": PERSON, "PartyTaxScheme/CompanyID": "TAX_ID", "SpecifiedTaxRegistration/ID": "TAX_ID",
    "FinancialInstitutionBranch/ID": "BIC", "FinancialInstitution/ID": "BIC",
}  # fmt: skip
"""Name of an element, or its parent's and its own → its label."""
_WITH_DIGITS = frozenset(("PHONE", "ID_NUMBER", "TAX_ID", "IBAN"))
"""Labels of texts with digits; without one they are words ("none")."""


class _Text(NamedTuple):
    """Text of an element, its label (`CODE`: none), and the words before it, which are the writer's."""

    text: str
    label: str | None = ""
    caption: str = ""


class _Writer:
    """Text under construction, and its parts."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._length = 0
        self.parts: list[StatedPart] = []

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def caption(self, text: str) -> None:
        self._texts.append(text)
        self._length += len(text)

    def part(self, text: str, label: str | None) -> None:
        start = self._length
        self.caption(text)
        if text and label is not CODE:
            self.parts.append(StatedPart(start, self._length, label))
        if len(self.parts) > MOST_PARTS:
            raise UnreadableDocument(f"The invoice states more than {MOST_PARTS:,} values.")


def invoice_text(
    root: etree._Element, syntax: Syntax, invoice: ElectronicInvoice
) -> tuple[str, tuple[StatedPart, ...]]:
    """Write an invoice for people; returns the text and its parts, in order.

    Raises:
        UnreadableDocument: it states too many values.
    """
    writer = _Writer()
    writer.caption("Credit note\n" if invoice.is_credit_note else "Invoice\n")
    _write_roles(writer, invoice, are_sums=False)
    _write_rows(writer, invoice)
    writer.caption("\n")
    _write_roles(writer, invoice, are_sums=True)
    _write_rest(writer, root, syntax, invoice)
    return writer.text, tuple(writer.parts)


def _write_roles(writer: _Writer, invoice: ElectronicInvoice, *, are_sums: bool) -> None:
    for role in ROLES:
        if role.label in invoice.roles and (role.group is RoleGroup.SUM) is are_sums:
            writer.caption(f"{role.heading}: ")
            writer.part(_written(invoice.roles[role.label]), role.label)
            writer.caption("\n")


def _write_rows(writer: _Writer, invoice: ElectronicInvoice) -> None:
    writer.caption("\nDescription\tQuantity\tUnit price\tAmount\n" if invoice.rows else "")
    for row in invoice.rows:
        writer.part(row.description, LINE_ITEM)
        for label, value in (("QUANTITY", row.quantity), ("MONEY", row.unit_price), ("MONEY", row.amount)):
            writer.caption("\t")
            writer.part(_written(value) if value else "", label)
        writer.caption("\n")


def _written(value: Value) -> str:
    """Write a value so that it is read as what it is."""
    if value.number is None:
        return value.text
    return _THREE_DECIMALS.sub(r"\g<1>0", value.text) + " %" * (value.kind is ValueKind.PERCENT)


def _write_rest(writer: _Writer, root: etree._Element, syntax: Syntax, invoice: ElectronicInvoice) -> None:
    """Write the XML's other texts, under the names of the element that holds them and of its parent."""
    written = _elements_written(root, syntax, invoice)
    for element in root.iter(etree.Element):
        if element in written:
            continue
        if element.tag.endswith("Address"):
            texts = list(_address(element))
            written.update(element.iter(etree.Element))
        else:
            texts = [text for child in element if child not in written and (text := _text(child, invoice)).text]
        around = element.getparent()
        names = (str(named.tag) for named in (around, element) if named is not None and named is not root)
        key = " ".join(_WORD.sub(" ", name) for name in names)
        for number, shown in enumerate(texts):
            writer.caption((", " if number else f"\n{key}: " if key else "\n") + shown.caption)
            writer.part(shown.text, shown.label)


def _elements_written(root: etree._Element, syntax: Syntax, invoice: ElectronicInvoice) -> set[etree._Element]:
    """Find the elements whose texts stand in the roles and rows already, or say what the file is."""
    shown = {
        found
        for label, value in invoice.roles.items()
        for path in syntax.roles[label]
        for found in elements_at(root, path)[:1]
        if _text(found, invoice).text == _written(value)
    }
    codes = (syntax.profile, syntax.currency, *syntax.type_code)
    in_rows = (*syntax.row_texts[:1], syntax.quantity, syntax.price, syntax.row_amount, OLD_ROW_AMOUNT)
    rows = chain.from_iterable(row.findall(path)[:1] for row in root.findall(syntax.row) for path in in_rows)
    return {*shown, *(found for path in codes for found in elements_at(root, path)[:1]), *rows}


def _address(element: etree._Element) -> Iterator[_Text]:
    """Yield the texts of an address as one, behind its identifiers; of a country alone its code."""
    leaves = [each for each in element.iter(etree.Element) if len(each) == 0 and _plain(each)]
    named = [each for each in leaves if each.tag != "ID" and not str(each.tag).endswith(("FormatCode", "TypeCode"))]
    yield from (_Text(_plain(each), CODE) for each in leaves if each not in named)
    if named:
        is_country = all(str(each.tag).startswith(("Country", "Identification")) for each in named)
        yield _Text(", ".join(map(_plain, named)), CODE if is_country else "ADDRESS")


def _plain(element: etree._Element) -> str:
    return "\n".join(filter(None, map(str.strip, (element.text or "").splitlines())))


def _text(element: etree._Element, invoice: ElectronicInvoice) -> _Text:
    """Write an element without children; for a file in it the file's name."""
    name, text = str(element.tag), _plain(element) if len(element) == 0 else ""
    if name.endswith("BinaryObject"):
        return _Text(element.get("filename", "without a name"), "", "a file that is not read: ")
    if not text:
        return _Text("")
    if name.endswith("Percent") and (rate := percentage(text)):
        return _Text(_written(rate), "PERCENT")
    if (name.endswith("Amount") or element.get("currencyID")) and (number := decimal_of(text)) is not None:
        currency = currency_name(element.get("currencyID")) or invoice.currency
        return _Text(_written(money(number, currency)), "MONEY")
    if name.endswith("Quantity") and (count := quantity_of(element)):
        return _Text(_written(count), "QUANTITY")
    if name.endswith(("Date", "DateTime", "DateTimeString", "DateString")) and (day := iso_day(text)):
        return _Text(day, "DATE")
    return _Text(text, _label(element, text, invoice))


def _label(element: etree._Element, text: str, invoice: ElectronicInvoice) -> str | None:
    """Find the label of a text by the names of its element and of those around it."""
    around = element.getparent()
    parent, name = "" if around is None else str(around.tag), str(element.tag)
    has_digits = any(map(str.isdigit, text))
    if parent.endswith("Contact") and name == "Name":
        parent = "Contact"
    label = _BY_NAME.get(name) or _BY_NAME.get(f"{parent}/{name}", "")
    if parent.endswith("TradeParty") and name == "Name":
        label = ORGANIZATION
    if label in (ORGANIZATION, "") and name.endswith("Name"):
        return _party_label(text, invoice) or label
    if label or name == "BuyerReference":
        return label if has_digits or label not in _WITH_DIGITS else ""
    if name.endswith(_CODES) or (name == "ID" and parent.endswith(_NUMBERED)):
        return CODE
    if not name.endswith("ID"):
        return ""
    return _identifier_label(text, has_digits=has_digits)


def _identifier_label(text: str, *, has_digits: bool) -> str | None:
    if "@" in text or "://" in text:
        return "EMAIL" if "@" in text else "URL"
    if _IBAN.fullmatch(text):
        return "IBAN"
    return (
        "ID_NUMBER" if has_digits and len(text) >= _SHORTEST_NUMBER else "" if len(text) >= _SHORTEST_NUMBER else CODE
    )


def _party_label(text: str, invoice: ElectronicInvoice) -> str | None:
    """Find the party that has this name; None for others."""
    parties = (SUPPLIER, RECEIVER)
    return next((label for label in parties if label in invoice.roles and invoice.roles[label].text == text), None)
