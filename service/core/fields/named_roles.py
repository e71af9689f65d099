"""Bill dates and numbers: assigns them to roles by the model's labels and by the words right before them.

The rules:
- A mention under a role's label fits that role; words for the role before it add `WORD` to its weight.
- A date or number under another label fits the role whose words stand before it on its line, or else in the cell above
  it.
- An invoice date after words for the due date counts `CONTRADICTED` of its score.
- A currency's code after words for it ("Währung: EUR") is the bill's, before those beside the amounts; one that ends an
  amount's key ("Total CHF") counts last.
- A number after words for another bill ("related invoice", "Facture liée") is neither this bill's number nor an order
  number; one after words for this bill is no order number, and no number without words is both.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import partial

from service.core.decoding.entities import Entity
from service.core.fields.lines import TextLines, key_above, key_of
from service.core.fields.mentions import Choice, Mention, Reason, choose, ranked, same_value
from service.core.fields.roles import DATES, NUMBERS, ROLES, RoleGroup, labels_of
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

BILL_DATES = frozenset(("INVOICE_DATE", "DUE_DATE"))
"""Labels of the model between which the words before a date decide (`named_dates`)."""
DIGIT_LABELS = BILL_DATES | {"QUANTITY", "TAX_ID"}
"""Labels of the model under which a number in digits may stand."""
NAMED_BY_WORDS = DIGIT_LABELS | NUMBERS
"""Labels of the model that `named_dates` corrects by the words before."""
ANOTHER = "another"
"""Role of another bill's number, and of another day such as that of delivery."""
WORD = 0.35
"""Weight added to a mention's score if words for the role stand before it."""
UNNAMED, BY_KEYWORD = 0.5, 0.2
"""Factors of the score of a mention under another label, and of a value found by keyword."""
CONTRADICTED = 0.35
"""Factor of an invoice date's score after words for the due date."""
BEFORE = 40
"""Characters before a mention in which words for its role are looked for."""

CURRENCY_CHARACTERS = 12_000
"""Characters of a document's beginning that are searched for its currency."""

_CODE = re.compile(r"(?<![^\W_])[A-Z]{3}(?![^\W_])")
_LAST_CODE = re.compile(r"(?<![^\W_])([A-Z]{3})[)\]]?[\s:.=]*$")
_CURRENCY = re.compile(rf"(?:{any_of('currency')})[\s:：.=]{{0,16}}([a-z]{{3}})(?![^\W_])")
_NOT_THE_BILLS = re.compile(
    r"(?:local|home|foreign|base|accounting|reporting|tax|vat|original|national|lokal\w*|landes|haus|fremd|buch|steuer"
    r"|account)[\s-]{0,4}$"
)
"""Words before "currency" that make it another one than the bill's: that of the tax office, or of an account."""
_NAMED = [role for role in ROLES if role.group is RoleGroup.NAMED]
_DAY_ROLES = {word: role.label for role in _NAMED if role.label in DATES for word in role.words} | {
    "another_day": ANOTHER
}
_DAYS = PhraseTable(*_DAY_ROLES)
_NUMBERED = rf"[\s:.#-]*(?:\([0-9]{{1,4}}\)\s*)?(?P<number>{any_of('number', starts=False)})?[\s:.#]*$"
_NUMBER_ROLES = {
    label: re.compile(rf"(?:{any_of(*words, ends=False)}){_NUMBERED}")
    for label, words in (
        (ANOTHER, ("another_bill",)),
        *((role.label, role.words) for role in _NAMED if role.label in NUMBERS),
    )
}

_MONTH = (
    "jan|f[eé][bv]|m[aä]r|mrt|apr|a[bv]r|ma[igjy]|jui?[ln]|giu|lug|ago|a[ou]û?[gt]|sep|set|o[ck]t|ott|nov|de[csz]|dic|gen"
    "|ene"
)
"""Beginnings of the names of months, as a pattern."""
_DATE_AS_NUMBER = re.compile(
    r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:T[0-9:.Z+-]{2,16})?"
    rf"|[0-3]?[0-9][-/]?(?:{_MONTH})[^\W\d_]{{0,6}}[-/]?(?:(?:19|20)[0-9]{{2}}|[0-9]{{2}})",
    re.IGNORECASE,
)
"""Date without gaps, which a model may take for a number: `20250902`, `02OCT2025`."""
_IN_DIGITS = re.compile(r"[0-9]{1,8}(?:(?P<second>[./-])[0-9]{1,6}(?P<third>[./-][0-9]{1,6})?)?")
"""Number of a bill that may be taken for a date, a quantity or a tax number."""


def choose_named(mentions: Sequence[Mention], lines: TextLines) -> dict[str, Choice]:
    """Choose a bill's numbers and dates, by label; roles without a candidate are left out."""
    roles = {mention.entity: role_before(lines, mention) for mention in mentions if mention.label in DATES | NUMBERS}
    choices = {}
    for label in labels_of(RoleGroup.NAMED):
        family = DATES if label in DATES else NUMBERS
        likely = ranked(
            (mention for mention in mentions if mention.label in family), partial(_weight, label=label, roles=roles)
        )
        by_label = bool(likely) and likely[0][0].label == label
        if choice := choose(likely, Reason.LABEL if by_label else Reason.CONTEXT):
            choices[label] = choice
    bill, order = choices.get("INVOICE_ID"), choices.get("PURCHASE_ORDER")
    if bill and order and same_value(bill.best) == same_value(order.best) and not roles[order.best.entity]:
        del choices["PURCHASE_ORDER"]
    return choices


def role_before(lines: TextLines, mention: Mention) -> str | None:
    """Find the role that the words before a date or a number name."""
    return (date_role if mention.label in DATES else number_role)(lines, mention.start)


def date_role(lines: TextLines, start: int) -> str | None:
    """Find the role that the nearest words before a date name; `ANOTHER` for another day."""
    for key in _keys(lines, start):
        if found := _DAYS.find(key):
            return _DAY_ROLES[found[-1].kind]
    return None


def number_role(lines: TextLines, start: int) -> str | None:
    """Find the role that the words right before a number name; `ANOTHER` for another bill."""
    found = _number_words(list(_keys(lines, start)))
    return found[0] if found else None


def _number_words(keys: Sequence[str]) -> tuple[str, re.Match[str]] | None:
    """Find the first role that words at the end of a key name, and these words."""
    found = ((role, words.search(key)) for role, words in _NUMBER_ROLES.items() for key in keys)
    return next(((role, match) for role, match in found if match), None)


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
    if entity.label not in NAMED_BY_WORDS or _DATE_AS_NUMBER.fullmatch(entity.text) is None:
        return None
    role = date_role(lines, entity.start)
    if role is None or (entity.text.isdecimal() and number_role(lines, entity.start) is not None):
        return None
    return "DATE" if role == ANOTHER else role


def _number_label(lines: TextLines, entity: Entity, dates: Sequence[Entity]) -> str | None:
    """Find the label of a number that the model calls something else: `12/2026` behind "Fattura n."; None for others.

    Without a word for a number ("Fattura 12/2026 del 02/03/2026") the document has a whole date besides; and where the
    number is written as one ("Invoice 12-03-2026"), that other date is called the invoice's.
    """
    digits = _IN_DIGITS.fullmatch(entity.text) if entity.label in DIGIT_LABELS else None
    if digits is None:
        return None
    found = _number_words([folded(lines.before(entity.start, BEFORE))])
    if found is None:
        return None
    role, words = found
    if words["number"] is None and "#" not in words[0]:
        others = [date for date in dates if date.text != entity.text and _is_whole_date(date.text)]
        if digits["third"] is not None:
            others = [date for date in others if date.label == "INVOICE_DATE"]
        if entity.label not in BILL_DATES or not others:
            return None
    return "ID_NUMBER" if role == ANOTHER else role


def _is_whole_date(text: str) -> bool:
    digits = _IN_DIGITS.fullmatch(text)
    return digits is None or digits["third"] is not None


def named_currency(text: str) -> str | None:
    """Find the first ISO code after words for a bill's currency in its beginning."""
    for line in text[:CURRENCY_CHARACTERS].split("\n"):
        if not (codes := _CODE.findall(line)):
            continue
        words = folded(line)
        named = {
            found[1].upper()
            for found in _CURRENCY.finditer(words)
            if _NOT_THE_BILLS.search(words, max(0, found.start() - BEFORE), found.start()) is None
        }
        if (code := next((code for code in codes if code in named), None)) is not None:
            return str(code)
    return None


def currency_of_key(lines: TextLines, start: int) -> str | None:
    """Find the last word of an amount's key if it may be a currency's code: "Total CHF", "Amount due (USD)"."""
    found = _LAST_CODE.search(key_of(lines, start))
    return found[1] if found else None


def _keys(lines: TextLines, start: int) -> Iterator[str]:
    """Yield the folded texts that may name a value: before it on its line, then the cell above it."""
    yield folded(lines.before(start, BEFORE))
    yield folded(key_above(lines, start))


def _weight(mention: Mention, label: str, roles: dict[int, str | None]) -> float:
    role = roles[mention.entity]
    if mention.label != label:
        share = BY_KEYWORD if mention.by_keyword else UNNAMED
        return share * mention.score + WORD if role == label else 0.0
    if role == label:
        return mention.score + WORD
    if (role == ANOTHER and label in NUMBERS) or (label, role) == ("PURCHASE_ORDER", "INVOICE_ID"):
        return 0.0
    if label == "INVOICE_DATE" and role == "DUE_DATE":
        return CONTRADICTED * mention.score
    return mention.score
