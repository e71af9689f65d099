"""Reads an entity's text to its value, by its label; what cannot be read is its text. Never fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.core.decoding.entities import Entity
from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.amounts import read_money, read_percent, read_quantity
from service.text.values.context import DocumentContext
from service.text.values.dates import read_date
from service.text.values.identifiers import (
    read_bic,
    read_email,
    read_iban,
    read_number,
    read_phone,
    read_tax_id,
    read_url,
)
from service.text.values.script import LONGEST_CHARACTERS, folded

Reader = Callable[[str, DocumentContext], Value | None]

READERS: dict[str, Reader] = {
    **dict.fromkeys(("MONEY", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"), read_money),
    **dict.fromkeys(("DATE", "INVOICE_DATE", "DUE_DATE", "EFFECTIVE_DATE"), read_date),
    "QUANTITY": read_quantity,
    "PERCENT": read_percent,
    "EMAIL": read_email,
    "URL": read_url,
    "PHONE": read_phone,
    "IBAN": read_iban,
    "BIC": read_bic,
    "TAX_ID": read_tax_id,
    "ID_NUMBER": read_number,
}
"""Label → how its texts are read; those of all other labels have no value but their text."""
_COMPACT = frozenset({"EMAIL", "URL"})
"""Labels whose texts are read whatever their length."""


def read_value(label: str, text: str, context: DocumentContext) -> Value:
    """The value of an entity's text in its document."""
    reader = READERS.get(label)
    if reader is None or (len(text) > LONGEST_CHARACTERS and label not in _COMPACT):
        return Value(ValueKind.TEXT, folded(text))
    found = context.readings.get((reader, text))
    if found is None:
        found = context.readings[reader, text] = reader(text, context) or Value(ValueKind.TEXT, folded(text))
    return found


def read_values(
    context: DocumentContext, entities: list[Entity], reading_labels: Mapping[str, str] | None = None
) -> list[Value]:
    """The value of each entity of a document; `reading_labels`: by which label those of some others are read."""
    others = reading_labels or {}
    return [read_value(others.get(each.label, each.label), each.text, context) for each in entities]


def read_tables() -> None:
    """Read the tables of names, which takes a third of a second, before a request needs them."""
    for table in (names.months, names.weekdays, names.quarters, names.currency_names, names.powers, names.units):
        table()
