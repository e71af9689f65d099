"""Bill dates and numbers: assigns them to roles by the model's labels and by their keys.

The rules:
- A mention under a role's label fits that role; words for the role before it add `WORD` to its weight.
- A date or number under another label fits the role that its key names (`key_roles`).
- A mention whose key names something else counts `CONTRADICTED` of its score, and is doubtful if nothing better is
  there. The number of another paper is not the bill's, and a day of something else is no due date.
- An order's number that its buyer gave goes before the seller's. A payment's reference may be the bill's number.
- A number behind a mere "no." is the bill's if there is no better one. A date that is not read as one fills no role.
- On a credit note, the number and date under the name of a bill are those of the bill that is credited.
- A bill is due between its date and `MOST_DAYS_TO_PAY` later: of candidates the pair counts that fits. A due date that
  fits no invoice date is left out if no words name it, and else both are doubtful.
- A discount for a payment after the due date is doubtful, and so is that date.
- A payment's reference whose check digit is wrong is not valid, and doubtful.
- A day in a row of goods, and a bill's number in a row of bills, counts `IN_ROW` of its score. A bill's date without
  words is doubtful in such a row, beside other words in its cell ("Wedding on 12 June"), or with another such day.
- No number without words is both the bill's and an order's.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import product

from service.core.decoding.entities import Entity
from service.core.decoding.value import Value, ValueKind
from service.core.fields.key_roles import (
    ANOTHER,
    BEFORE,
    MERE,
    bill_number_words,
    check_digit,
    date_role,
    is_alone,
    is_behind_place,
    is_named_as_bill,
    is_your_order,
    number_role,
    role_before,
)
from service.core.fields.lines import LONGEST_ROW, TextLines, has_sum
from service.core.fields.mentions import Choice, Mention, Reason, choose, ranked, same_value
from service.core.fields.roles import DATES, DISCOUNT_DATE, NUMBERS, REFERENCE, TAX_ID, RoleGroup, labels_of
from service.core.fields.vocabulary.phrases import folded

BILL_DATES = frozenset(("INVOICE_DATE", "DUE_DATE"))
"""Labels of the model between which the words before a date decide (`named_dates`)."""
DIGIT_LABELS = BILL_DATES | {"QUANTITY", "TAX_ID"}
"""Labels of the model under which a number in digits may stand."""
NAMED_BY_WORDS = DIGIT_LABELS | NUMBERS
"""Labels of the model that `named_dates` corrects by the words before."""
WORD, YOURS, PLACED = 0.35, 1.0, 0.1
"""Weights added to a mention's score if words for the role stand before it; if they name an order as the buyer's; if a
place stands before the bill's date: a foot may have another "date"."""
UNNAMED, BY_KEYWORD = 0.5, 0.2
"""Factors of the score of a mention under another label, and of a value found by keyword."""
IN_ROW = 0.35
"""Factor of the score of a date without words, and of a number beside another date, on a line with an amount."""
CONTRADICTED = 0.35
"""Factor of the score of a mention whose key names something else."""
MOST_DAYS_TO_PAY = 370
"""Most days between a bill's date and its due date."""

_MONTH = (
    "jan|f[eé][bv]|m[aä]r|mrt|apr|a[bv]r|ma[igjy]|jui?[ln]|giu|lug|ago|a[ou]û?[gt]|sep|set|o[ck]t|ott|nov|de[csz]|dic|gen"
    "|ene"
)
"""Beginnings of the names of months, as a pattern."""
_WHOLE_DATE = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{4}")
_DATE_AS_NUMBER = re.compile(
    r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:T[0-9:.Z+-]{2,16})?"
    rf"|[0-3]?[0-9][-/]?(?:{_MONTH})[^\W\d_]{{0,6}}[-/]?(?:(?:19|20)[0-9]{{2}}|[0-9]{{2}})",
    re.IGNORECASE,
)
"""Date without gaps, which a model may take for a number: `20250902`, `02OCT2025`."""
MOST_TRIED = 6
"""Most candidates of each date that are tried for a pair that fits."""
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_IN_DIGITS = re.compile(r"[0-9]{1,8}(?:(?P<second>[./-])[0-9]{1,6}(?P<third>[./-][0-9]{1,6})?)?")
"""Number of a bill that may be taken for a date, a quantity or a tax number."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What the key of a date or a number says: its role; whether it names a bill; how sure it is of the role.

    `is_in_row`: the value stands in a row of a table; `is_alone`: no other words stand beside the date in its cell.
    """

    role: str | None
    is_bills: bool = False
    weight: float = WORD
    is_in_row: bool = False
    is_alone: bool = True


_Weighed = list[tuple[Mention, float]]


def choose_named(mentions: Sequence[Mention], lines: TextLines, *, is_credit: bool = False) -> dict[str, Choice]:
    """Choose a bill's numbers and dates, by label; roles without a candidate are left out.

    Args:
        is_credit: whether the bill is a credit note.
    """
    keys = {mention.entity: _key(lines, mention, is_credit) for mention in mentions if mention.label in DATES | NUMBERS}
    found = {label: _weighed(mentions, label, keys) for label in labels_of(RoleGroup.NAMED)}
    unsure = _fit_due(found, keys)
    choices = {label: _choice(label, likely, keys, label in unsure) for label, likely in found.items() if likely}
    bill, order = choices.get("INVOICE_ID"), choices.get("PURCHASE_ORDER")
    if bill and order and same_value(bill.best) == same_value(order.best) and not keys[order.best.entity].role:
        del choices["PURCHASE_ORDER"]
    if REFERENCE in choices:
        choices[REFERENCE] = _checked(choices[REFERENCE], bill.best.value.text if bill else None, lines)
    return choices | _late_discount(choices)


def _checked(reference: Choice, bill: str | None, lines: TextLines) -> Choice:
    """Return a payment's reference with the check of its last digit, if its key promises one."""
    best = reference.best
    valid = check_digit(lines, best, bill) if best.value.valid is None else None
    if valid is None:
        return reference
    is_doubtful = reference.is_doubtful or not valid
    return replace(reference, best=best._replace(value=best.value._replace(valid=valid)), is_doubtful=is_doubtful)


def _late_discount(choices: Mapping[str, Choice]) -> dict[str, Choice]:
    """Return due date and discount date as doubtful choices where the discount ends after the due date."""
    pair = [(label, choices[label]) for label in ("DUE_DATE", DISCOUNT_DATE) if label in choices]
    days = [_days(choice.best.value) for _, choice in pair]
    is_late = len(pair) == 2 and all(last < first for last, first in product(*days))
    return {label: replace(choice, is_doubtful=True) for label, choice in pair if is_late and all(days)}


def _weighed(mentions: Sequence[Mention], label: str, keys: Mapping[int, _Key]) -> _Weighed:
    family = DATES if label in DATES else NUMBERS
    related = (mention for mention in mentions if mention.label in family)
    return ranked(related, lambda mention: _weight(mention, label, keys[mention.entity]))


def _choice(label: str, likely: _Weighed, keys: Mapping[int, _Key], is_unsure: bool) -> Choice:
    best = likely[0][0]
    choice = choose(likely, Reason.LABEL if best.label == label else Reason.CONTEXT)
    assert choice is not None
    key = keys[best.entity]
    is_guess = (
        label == "INVOICE_DATE"
        and key.role is None
        and _is_guess(key, [keys[other.entity] for other in choice.alternatives])
    )
    return replace(choice, is_doubtful=is_unsure or is_guess or _is_contradicted(label, key))


def _is_guess(key: _Key, others: Iterable[_Key]) -> bool:
    """True if nothing but the model's label makes a day without words the bill's: a row or other words hold it.

    So does another such day that stands no worse.
    """
    return key.is_in_row or not key.is_alone or any(other.role is None and not other.is_in_row for other in others)


def _key(lines: TextLines, mention: Mention, is_credit: bool) -> _Key:
    role = role_before(lines, mention)
    is_bills = is_credit and role in ("INVOICE_ID", "INVOICE_DATE") and is_named_as_bill(lines, mention.start)
    if role == "PURCHASE_ORDER" and is_your_order(lines, mention.start):
        return _Key(role, weight=WORD + YOURS)
    if role == "INVOICE_DATE" and is_behind_place(lines, mention.start):
        return _Key(role, weight=WORD + PLACED)
    return _Key(role, is_bills, is_in_row=_is_in_row(lines, mention, role), is_alone=is_alone(lines, mention))


def _is_in_row(lines: TextLines, mention: Mention, role: str | None) -> bool:
    """True for a date without words on a line with an amount, and for a number before a date and an amount."""
    behind = lines.after(mention.end, LONGEST_ROW)
    if mention.label in DATES:
        return role is None and (has_sum(behind) or has_sum(lines.before(mention.start, LONGEST_ROW)))
    return any(has_sum(behind[day.end() :]) for day in _WHOLE_DATE.finditer(behind))


def _is_contradicted(label: str, key: _Key) -> bool:
    """True if a key names something else than a role."""
    if label == "INVOICE_ID" and key.role in (REFERENCE, MERE):
        return False
    return key.is_bills or key.role not in (None, label)


def _weight(mention: Mention, label: str, key: _Key) -> float:
    """Weigh a mention for a role."""
    if label in DATES and mention.value.kind is not ValueKind.DATE:
        return 0.0
    if label in BILL_DATES and any("/" in reading for reading in _readings(mention.value)):
        return 0.0
    words = key.weight if key.role == label else 0.0
    if mention.label != label:
        share = BY_KEYWORD if mention.by_keyword else UNNAMED
        is_named = bool(words) or (label, key.role) == ("INVOICE_ID", MERE)
        weight = share * mention.score + words if is_named else 0.0
    else:
        weight = mention.score + words
    if key.is_in_row:
        weight *= IN_ROW
    if not _is_contradicted(label, key):
        return weight
    is_another = key.role == ANOTHER and label in NUMBERS
    is_impossible = label == "DUE_DATE" or (label, key.role) == ("PURCHASE_ORDER", "INVOICE_ID")
    return 0.0 if is_another or is_impossible else CONTRADICTED * weight


def _fit_due(found: dict[str, _Weighed], keys: Mapping[int, _Key]) -> frozenset[str]:
    """Put the likeliest invoice date and due date that fit each other first; returns the roles that stay unsure."""
    issued, due = found["INVOICE_DATE"], found["DUE_DATE"]
    if not issued or not due or _fits(issued[0][0], due[0][0]):
        return frozenset()
    pairs = [(one, other) for one, other in product(issued[:MOST_TRIED], due[:MOST_TRIED]) if _fits(one[0], other[0])]
    if pairs:
        best = max(pairs, key=lambda pair: pair[0][1] + pair[1][1])
        unsure = {
            label for label, one in zip(("INVOICE_DATE", "DUE_DATE"), best, strict=True) if found[label][0] != one
        }
        for label, one in zip(("INVOICE_DATE", "DUE_DATE"), best, strict=True):
            found[label] = [one, *(other for other in found[label] if other != one)]
        return frozenset(label for label in unsure if keys[found[label][0][0].entity].role != label)
    if keys[due[0][0].entity].role == "DUE_DATE":
        return BILL_DATES
    found["DUE_DATE"] = []
    return frozenset()


def _fits(issued: Mention, due: Mention) -> bool:
    """True unless a due date lies before a bill's date, or long after it, in all readings."""
    pairs = [*product(_days(issued.value), _days(due.value))]
    longest = timedelta(days=MOST_DAYS_TO_PAY)
    return not pairs or any(timedelta() <= last - first <= longest for first, last in pairs)


def _days(value: Value) -> list[date]:
    return [date.fromisoformat(reading) for reading in _readings(value) if _ISO_DAY.fullmatch(reading)]


def _readings(value: Value) -> tuple[str, ...]:
    return value.ambiguous or (value.text,)


def named_dates(text: str, entities: list[Entity], labels: Container[str]) -> list[Entity]:
    """Correct the labels of invoice dates and due dates by the words before them.

    An invoice date may turn out to be a due date, the other way round, or a number in digits (`_number_label`), and a
    number to be a date (`_date_label`). A date without a role stays without one.

    Args:
        labels: labels that a number, or a date taken for one, may get.
    """
    lines = TextLines(text)

    def named(entity: Entity) -> Entity:
        if entity.label in BILL_DATES:
            role = date_role(lines, entity.start)
            return entity._replace(label=role) if role in BILL_DATES else entity
        label = _date_label(lines, entity)
        return entity._replace(label=label) if label is not None and label in labels else entity

    found = [named(entity) for entity in entities]
    dates = [entity for entity in found if entity.label in DATES]
    numbers = ((entity, _number_label(lines, entity, dates)) for entity in found)
    return [each._replace(label=label) if label is not None and label in labels else each for each, label in numbers]


def _date_label(lines: TextLines, entity: Entity) -> str | None:
    """Find the label of a date that the model calls a number: `20250902` behind "Invoice date"; None for others."""
    is_whole = _WHOLE_DATE.fullmatch(entity.text) is not None
    if entity.label not in NAMED_BY_WORDS or not (is_whole or _DATE_AS_NUMBER.fullmatch(entity.text)):
        return None
    role = date_role(lines, entity.start)
    if role is None or ((is_whole or entity.text.isdecimal()) and number_role(lines, entity.start) is not None):
        return None
    return role if role in BILL_DATES else "DATE"


def _number_label(lines: TextLines, entity: Entity, dates: Sequence[Entity]) -> str | None:
    """Find the label of a number that the model calls something else: `12/2026` behind "Fattura n."; None for others.

    Without a word for a number ("Fattura 12/2026 del 02/03/2026") the document has a whole date besides; and where the
    number is written as one ("Invoice 12-03-2026"), that other date is called the invoice's.
    """
    digits = _IN_DIGITS.fullmatch(entity.text) if entity.label in DIGIT_LABELS else None
    if digits is None and entity.label != TAX_ID:
        return None
    found = bill_number_words(folded(lines.before(entity.start, BEFORE)))
    if found is None:
        return None
    role, words = found
    if words["number"] is None and "#" not in words[0]:
        if digits is None:
            return None
        others = [date for date in dates if date.text != entity.text and _is_whole_date(date.text)]
        if digits["third"] is not None:
            others = [date for date in others if date.label == "INVOICE_DATE"]
        if entity.label not in BILL_DATES or not others:
            return None
    return "ID_NUMBER" if role in (ANOTHER, REFERENCE) else role


def _is_whole_date(text: str) -> bool:
    digits = _IN_DIGITS.fullmatch(text)
    return digits is None or digits["third"] is not None
