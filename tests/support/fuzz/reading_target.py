"""The fuzz target of readers: values, rules and fields of bills with odd characters, below the net of `shielded`."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from random import Random

from service.core.decoding.entities import Entity
from service.core.decoding.value import Value, ValueKind
from service.core.fields.currencies import CurrencyReader
from service.core.fields.document_fields import find_fields
from service.core.fields.keyword_values import keyword_values
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention
from service.core.fields.named_roles import named_dates
from service.core.fields.papers import divide
from service.text.rules.amount_extension import whole_amounts
from service.text.rules.rule_matches import merge, on_visible_text
from service.text.rules.rule_set import FINDERS, find
from service.text.rules.span_extension import date_spans, whole_dates, whole_identifiers, whole_periods
from service.text.values.context import DocumentContext
from service.text.values.currencies import currency_of_word, home_currency
from service.text.values.normalization import folded
from service.text.values.reading import READERS, Reader

LABELS = (*READERS, "INVOICE_ID", "PURCHASE_ORDER", "SUPPLIER_NAME", "RECEIVER_NAME", "LINE_ITEM", "ID_NUMBER")
SIGNS = "".join(
    character for character in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(character)[0] in "NMZSP"
)
"""All numbers, marks, spaces, symbols and punctuation of Unicode."""
WORDS = (
    "\\x",
    "\\1",
    "\\g<1>",
    "\t",
    "\n",
    "\x00",
    "\x1c",
    "\ufeff",
    "\u200b",
    "9" * 60,
    "1e999",
    "March",
    "to",
    "EUR",
)
LINES = (
    "Invoice date: 2026-03-12", "Due date: 12 March 2026", "Datum: 1. - 15. September 2025", "Period: Mon-Fri",
    "Stand: März 2026", "from 01.09.2025 to 30.09.2025", "発行日 令和6年6月15日", "Invoice No: INV-20931",
    "Total: EUR 1,200.00", "Summe 1.234,56 €", "Tax 19 %: $5.71", "2 x Widget 12.50 25.00", "10 kg Flour 3,5 kg",
    "IBAN: DE89 3704 0044 0532 0130 00", "BIC COBADEFFXXX", "VAT ID: DE136695976", "Phone: +49 30 1234567 ext. 8",
    "jane@acme.example", "www.acme.com/a", "Card 4111 1111 1111 1111", "Bill to: Acme GmbH", "١٥ مارس ٢٠٢٤",
)  # fmt: skip


class ReadingTarget:
    """Bills of a few lines with odd characters."""

    name = "reading"

    def make(self, draw: Random) -> bytes:
        """Draw some lines, each with odd characters in places of their own."""
        return "\n".join(_spoiled(draw.choice(LINES), draw) for _ in range(draw.randint(1, 8))).encode()

    def attack(self, data: bytes) -> str:
        """Read it: `fields`, if the bill has some."""
        return read_all(data.decode("utf-8", "replace"))


def read_all(text: str) -> str:
    """Read a text's values, matches of rules and fields, as an extraction does, without its net."""
    context = DocumentContext(text)
    entities = whole_dates(text, whole_periods(text, list(_entities(text)), context), context)
    entities = named_dates(text, whole_amounts(text, whole_identifiers(text, entities), context), LABELS)
    shown, placed = on_visible_text(text)
    entities = merge(text, entities, [placed(match) for name in FINDERS for match in find(name, shown, context)])
    by_keyword = keyword_values(
        TextLines(text), entities, date_spans(text), lambda label, part: _value(READERS[label], part, context)
    )
    mentions = [
        Mention(index, each.label, each.text, each.start, each.end, each.score, value)
        for index, each in enumerate([*entities, *by_keyword])
        for value in [_value(READERS.get(each.label), each.text, context)]
    ]
    for reader in set(READERS.values()):
        for line in text.split("\n"):
            reader(line, context)
    divide(text, entities, range(0, len(text), 40))
    count = len(entities)
    currencies = CurrencyReader(lambda word: currency_of_word(word, context), home_currency(context))
    return "text" if find_fields(text, mentions[:count], mentions[count:], currencies) is None else "fields"


def _value(reader: Reader | None, text: str, context: DocumentContext) -> Value:
    value = None if reader is None else reader(text, context)
    return value or Value(ValueKind.TEXT, folded(text))


def _entities(text: str) -> Iterator[Entity]:
    """Yield the part of each line behind its colon, or the line, under labels that take turns."""
    start = 0
    for line in text.split("\n"):
        begin = start + line.find(": ") + (2 if ": " in line else 1)
        if part := text[begin : start + len(line)]:
            yield Entity(LABELS[(begin + len(text)) % len(LABELS)], part, begin, begin + len(part), 0.9)
        start += len(line) + 1


def _spoiled(line: str, draw: Random) -> str:
    for _ in range(draw.randint(0, 4)):
        place = draw.randint(0, len(line))
        odd = draw.choice(WORDS) if draw.random() < 0.2 else draw.choice(SIGNS)
        line = f"{line[:place]}{odd}{line[place + draw.randint(0, 1) :]}"
    return line
