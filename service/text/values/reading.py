"""Reads an entity's text to its value, by its label; an unreadable text is its own value.

A request, a model's folder, or else the words of a label's name tell the kind of its values: "invoice date" is read as
a date, `TOTAL_AMOUNT` as money; the value of a name with none of these words is its text.

The rule: a reader, a rule or the choice of fields that raises costs its own result, never the document (`shielded`).
"""

from __future__ import annotations

import re
import traceback
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from service.core.decoding.entities import Entity
from service.core.decoding.value import Value, ValueKind
from service.core.fields.roles import REFERENCE, ROLES
from service.core.labels.label_set import Label
from service.text.values import names
from service.text.values.amounts import read_money, read_percent, read_quantity
from service.text.values.context import DocumentContext, ReadingFailure
from service.text.values.dates import read_date
from service.text.values.identifiers import (
    read_bic,
    read_email,
    read_iban,
    read_number,
    read_payment_reference,
    read_phone,
    read_tax_id,
    read_url,
)
from service.text.values.normalization import LONGEST_CHARACTERS, folded

_T = TypeVar("_T")
Reader = Callable[[str, DocumentContext], Value | None]

_KINDS: Mapping[ValueKind, tuple[str, Reader]] = {
    ValueKind.DATE: ("DATE", read_date),
    ValueKind.MONEY: ("MONEY", read_money),
    ValueKind.QUANTITY: ("QUANTITY", read_quantity),
    ValueKind.PERCENT: ("PERCENT", read_percent),
    ValueKind.EMAIL: ("EMAIL", read_email),
    ValueKind.URL: ("URL", read_url),
    ValueKind.PHONE: ("PHONE", read_phone),
    ValueKind.IBAN: ("IBAN", read_iban),
    ValueKind.BIC: ("BIC", read_bic),
    ValueKind.TAX_ID: ("TAX_ID", read_tax_id),
    ValueKind.CARD: ("ID_NUMBER", read_number),
}
"""Kind of value → the general label of such texts, and their reader."""
READERS: dict[str, Reader] = {
    **dict(_KINDS.values()),
    **{role.label: _KINDS[role.kind][1] for role in ROLES if role.kind in _KINDS},
    "EFFECTIVE_DATE": read_date,
    REFERENCE: read_payment_reference,
}
"""Label → reader of its texts; the value of all other labels is their text."""
_COMPACT = frozenset({"EMAIL", "URL"})
"""Labels whose texts are read at any length."""
_WORDS: Mapping[str, ValueKind] = {
    word: kind
    for kind, words in {
        ValueKind.DATE: "date datum birthday deadline fecha",
        ValueKind.MONEY: "amount money price cost costs fee salary betrag preis kosten gebühr gebuehr gehalt "
        "bedrag prijs importe monto precio coste costo montant prix importo prezzo",
        ValueKind.PERCENT: "percent percentage prozent prozentsatz porcentaje pourcentage",
        ValueKind.QUANTITY: "quantity weight distance menge gewicht cantidad",
        ValueKind.EMAIL: "email mail correo courriel",
        ValueKind.URL: "url website link webseite",
        ValueKind.PHONE: "phone telephone fax mobile telefon telefonnummer telefono teléfono téléphone",
        ValueKind.IBAN: "iban",
        ValueKind.BIC: "bic swift",
    }.items()
    for word in words.split()
}
"""Word of a label's name → kind of its values."""
_COMPOUNDED = ("datum", "betrag", "preis", "kosten", "gebühr", "gebuehr", "gehalt")
"""Words that end German compounds: `Rechnungsdatum`."""
_MARGIN_CHARACTERS = 400
"""Most characters of a footer, and of a header, between the parts of a date."""
_NEXT_ENTITIES = 30
"""Entities among which the rest of a cut date is looked for: others stand in the footer and the header."""
_LINE_END = re.compile(r"[ \t]*(?:\n|\Z)")
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Place between two words of a name such as `dueDate`."""


def read_value(label: str, text: str, context: DocumentContext) -> Value:
    """Read the value of an entity's text in its document."""
    reader = READERS.get(label)
    if reader is None or (len(text) > LONGEST_CHARACTERS and label not in _COMPACT):
        return Value(ValueKind.TEXT, folded(text))
    found = context.readings.get((reader, text))
    if found is None:
        value = shielded(context, reader.__name__, lambda: reader(text, context), None)
        found = context.readings[reader, text] = value or Value(ValueKind.TEXT, folded(text))
    return found


def shielded(context: DocumentContext, reader: str, read: Callable[[], _T], otherwise: _T) -> _T:
    """Read a part of a document; where that raises, note the failure and return `otherwise`."""
    try:
        return read()
    except Exception as error:
        (frame,) = traceback.extract_tb(error.__traceback__, limit=-1)
        line = f"{Path(frame.filename).name}:{frame.lineno}"
        context.failures.add(ReadingFailure(reader, type(error).__name__, line))
        return otherwise


def read_values(
    context: DocumentContext,
    entities: Sequence[Entity],
    reading_labels: Mapping[str, str] | None = None,
    page_starts: Sequence[int] = (),
) -> list[Value]:
    """Read the value of each entity of a document.

    Args:
        reading_labels: label → label by which its texts are read, where that is another.
        page_starts: offsets at which the pages begin, if there are some: a date may be cut by a page's end.
    """
    others = reading_labels or {}
    read = (
        [entity._replace(label=others.get(entity.label, entity.label)) for entity in entities] if others else entities
    )
    values = [read_value(entity.label, entity.text, context) for entity in read]
    for index, value in enumerate(values) if len(page_starts) > 1 else ():
        if value.kind is ValueKind.TEXT and READERS.get(read[index].label) is read_date:
            values[index] = _over_pages(context, read[index : index + _NEXT_ENTITIES], page_starts) or value
    return values


def _over_pages(context: DocumentContext, entities: Sequence[Entity], page_starts: Sequence[int]) -> Value | None:
    """Read a date whose rest, one of the next entities, begins a line of the next page: `12 March`, footer, `2027`."""
    text, (first, *others) = context.text, entities
    place = bisect_left(page_starts, first.end)
    if place == len(page_starts) or _LINE_END.match(text, first.end) is None:
        return None
    start = page_starts[place]
    if start - first.end > _MARGIN_CHARACTERS:
        return None
    for entity in others:
        begins_line = not text[max(start, text.rfind("\n", 0, entity.start) + 1) : entity.start].strip()
        is_near = start <= entity.start < start + _MARGIN_CHARACTERS
        if is_near and begins_line and READERS.get(entity.label) is read_date:
            value = read_value(entity.label, f"{first.text} {entity.text}", context)
            if value.kind is ValueKind.DATE and "/" not in value.text:
                return value
    return None


def reading_label(label: Label) -> str:
    """Find the label by which a label's texts are read; empty where the texts are their values."""
    if label.kind is not None:
        return _KINDS[label.kind][0] if label.kind in _KINDS else ""
    named = "_".join(label.name.upper().split())
    if named in READERS:
        return named
    words = [word.lower() for word in _WORD.findall(_HUMP.sub(" ", label.name.replace("e-mail", "email")))]
    heads = (next((end for end in _COMPOUNDED if word.endswith(end)), word) for word in reversed(words))
    kind = next((_WORDS[head] for head in heads if head in _WORDS), None)
    return "" if kind is None else _KINDS[kind][0]


@lru_cache(maxsize=64)
def own_reading_labels(types: tuple[str, ...], kinds: frozenset[tuple[str, ValueKind]]) -> Mapping[str, str]:
    """Find the label by which the texts of each of a model's labels are read, where that is another.

    Args:
        types: the model's labels.
        kinds: (label, kind of its values) where the model's folder says it; else the label's name does.
    """
    said = dict(kinds)
    read = {name: reading_label(Label(name, kind=said.get(name))) for name in (*types, *said)}
    return {name: other for name, other in read.items() if READERS.get(other) is not READERS.get(name)}


def value_kind(label: Label) -> ValueKind:
    """Find the kind of a label's values, as far as they can be read."""
    reader = READERS.get(reading_label(label))
    return next((kind for kind, (_, read) in _KINDS.items() if read is reader), ValueKind.TEXT)


def read_tables() -> None:
    """Read the tables of names, which takes a third of a second, before a request needs them."""
    for table in (names.months, names.weekdays, names.quarters, names.currency_names, names.powers, names.units):
        table()
