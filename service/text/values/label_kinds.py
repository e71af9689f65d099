"""The form of values of free labels: what a request says, or else the words of the label's name.

"invoice date" is read as a date, "total amount" as money; a name with none of these words has no value but its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.core.decoding.value import ValueKind
from service.core.labels.label_set import Label, LabelSet
from service.text.values.reading import READERS

_READ_AS: Mapping[ValueKind, str] = {
    ValueKind.DATE: "DATE",
    ValueKind.MONEY: "MONEY",
    ValueKind.QUANTITY: "QUANTITY",
    ValueKind.PERCENT: "PERCENT",
    ValueKind.EMAIL: "EMAIL",
    ValueKind.URL: "URL",
    ValueKind.PHONE: "PHONE",
    ValueKind.IBAN: "IBAN",
    ValueKind.BIC: "BIC",
    ValueKind.TAX_ID: "TAX_ID",
    ValueKind.CARD: "ID_NUMBER",
}
"""Kind → the label whose texts are read so."""
_WORDS: Mapping[str, ValueKind] = {
    **dict.fromkeys(("date", "datum", "birthday", "deadline"), ValueKind.DATE),
    **dict.fromkeys(("amount", "money", "price", "cost", "costs", "fee", "salary", "betrag", "preis"), ValueKind.MONEY),
    **dict.fromkeys(("percent", "percentage"), ValueKind.PERCENT),
    **dict.fromkeys(("quantity", "weight", "distance"), ValueKind.QUANTITY),
    **dict.fromkeys(("email", "mail"), ValueKind.EMAIL),
    **dict.fromkeys(("url", "website", "link"), ValueKind.URL),
    **dict.fromkeys(("phone", "telephone", "fax", "mobile"), ValueKind.PHONE),
    "iban": ValueKind.IBAN,
    "bic": ValueKind.BIC,
    "swift": ValueKind.BIC,
}
_WORD = re.compile(r"[^\W\d_]+")


def reading_labels(labels: LabelSet | None) -> dict[str, str]:
    """Each label's name with the label by which its texts are read; empty where labels are the model's."""
    if labels is None:
        return {}
    return {each.name: _reading_label(each) for each in labels.labels}


def _reading_label(label: Label) -> str:
    if label.kind is not None:
        return _READ_AS.get(label.kind, "")
    named = "_".join(label.name.upper().split())
    if named in READERS:
        return named
    words = [each.lower() for each in _WORD.findall(label.name.replace("e-mail", "email"))]
    kind = next((found for each in reversed(words) if (found := _WORDS.get(each))), None)
    return "" if kind is None else _READ_AS[kind]
