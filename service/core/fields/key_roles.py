"""Key roles: finds the role of a bill's date or number by its key, the words before it.

The rules:
- A key stands before the value on its line, or else it is the cell above.
- Of a date's key the nearest words count. Of two words that are one name ("order date") the first says which date it
  is; "invoice and delivery date" is the bill's own.
- A date right behind the number of another paper is that paper's: "your order 4711 of 2 March", "zu Rechnung 17 vom".
  Behind the bill's own name at the beginning of a line it is the bill's: "Facture n° 12 du".
- The last date of a period has the period's role; without words for one it is another day. A date behind a place that
  begins the line ("München, den"), without words behind it, is the bill's.
- Words right behind a date say which one of two it is: "until 22 March with 2 % discount, until 12 April net". They
  are no words of the date that follows them.
- A sentence that goes on from the line above has its words there.
- A number's key ends with words for it. Of several that end there the longest count: a "sales order" is no "order".
  The number of a deposit on a line of its own is that of the bill that asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from service.core.fields.lines import TextLines, key_above
from service.core.fields.mentions import Mention
from service.core.fields.payment_references import has_valid_check_digit
from service.core.fields.roles import DATES, DISCOUNT_DATE, REFERENCE, ROLES, SUPPLY_DATE, RoleGroup
from service.core.fields.vocabulary.phrases import PhraseMatch, PhraseTable, any_of, count_letters, folded

ANOTHER, MERE = "another", "number"
"""Role of the number or the day of something else: another bill, a customer, a payment made. Role of a number whose key
is "no." and nothing else."""
BEFORE = 40
"""Characters before a value in which words for its role are looked for."""
MOST_KEPT = 4_096
"""Most keys whose roles are kept: several steps ask for those of one document."""
LONGEST_DAY = 20
"""Most characters of a date that words may follow."""
MOST_WORDS_BESIDE = 1
"""Most words beside a date without words for its role in its cell: a place, a weekday, "on"."""
LONGEST_SENTENCE = 200
"""Most characters of a line whose sentence goes on in the next one."""
MOST_LETTERS_TO_SUPPLY = 16
"""Most letters between words for a supply and its date; with more they are prose about goods."""

_NAMED = [role for role in ROLES if role.group is RoleGroup.NAMED]
_DAY_ROLES = {word: role.label for role in _NAMED if role.label in DATES for word in role.words} | dict.fromkeys(
    ("another_day", "another_bill"), ANOTHER
)
_DAYS = PhraseTable(*_DAY_ROLES)
_ONE_NAME = re.compile(r"[ -]?")
_TWO_NAMES = re.compile(r"\s?(?:[/&=+]|and|und|et|y|e|en|och|og|i|a)\s?-?")
"""Gaps between two words of one name, and between two names for one date."""

_NUMBER_WORD = rf"(?:(?<![^\W\d_])|(?=[^\W\d_]{{2}}))(?P<number>{any_of('number', starts=False)})"
"""A word for a number; it may be part of a longer word if it is no single letter."""
_DATED = r"\s(?:vom|of|dated|du|del|van|av|z dnia|от)\s[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4},?\s"
"""Date between the name of a paper and its number: "Ihr Auftrag vom 02.03.2026, Nr."."""
_NUMBERED = (
    rf"(?:{_DATED}(?:{any_of('number', starts=False)})|[\s:.#-]*(?:\([0-9]{{1,4}}\)\s*)?(?:{_NUMBER_WORD})?)[\s:.#]*$"
)
_BILL = ("bill", "credit", "correction")
_REFERENCE = rf"(?:{any_of('reference', ends=False)})(?:[\s:.#-]{{0,3}}(?:{any_of(*_BILL)}))?"
"""Words for a payment's reference; the name of the bill may follow them, since its number is one."""
_NUMBER_ROLES = {
    label: re.compile(rf"(?P<words>{words}){_NUMBERED}")
    for label, words in (
        (ANOTHER, any_of("another_bill", "deposit", ends=False)),
        *(
            (role.label, _REFERENCE if role.label == REFERENCE else any_of(*role.words, ends=False))
            for role in _NAMED
            if role.label not in DATES
        ),
    )
}
_ALL_NUMBERS = (
    (ANOTHER, re.compile(rf"(?P<words>{any_of('another_number', 'other_number', ends=False)}){_NUMBERED}")),
    *_NUMBER_ROLES.items(),
)
_MERE = re.compile(rf"(?:.*[0-9][年月日]?\s)?\W{{0,3}}(?:{any_of('number')})[\s:.#]*")
_DEPOSIT = re.compile(
    rf"\W{{0,3}}(?:(?:{any_of(*_BILL)})\s{{1,2}}(?:d[ei]?['\s])?)?(?:{any_of('deposit')})(?:[\s-]{{1,2}}(?:{any_of(*_BILL)}))?{_NUMBERED}"
)
_JOINT = re.compile(rf"(?:{any_of(*_BILL)})\s?(?:[/&+]|und|and|et|e|y|en|och|og)\s?$")
"""Name of a bill before that of another paper which it is as well: "Rechnung / Lieferschein Nr."."""
_YOURS = re.compile(rf"(?:{any_of('your_order', ends=False)}){_NUMBERED}")

_OF = (
    r"(?:dated|from|of|vom|v\.|du|en date du|del|di data|in data|de fecha|dd\.?|d\.d\.|van|van datum|av den|av|af|fra"
    r"|fran|z dnia|z|ze dne|dne|от|pvm|de|da|din|din data|tanggal|bertarikh|tarihli|,|[-–—])"
)
_ID = r"(?=[^\s]{0,30}[0-9])[^\s,;]{1,30}"
_BEHIND = rf"[\s:.#-]{{0,3}}(?:{any_of('number', starts=False)})?[\s:.#-]{{0,3}}"
_OF_ANOTHER = re.compile(
    rf"(?:(?:{any_of('another_bill', 'deposit', 'order', 'your_order')}){_BEHIND}(?:{_ID})?"
    rf"|(?:{any_of('another_number')}){_BEHIND}{_ID})[\s,;(]{{1,3}}{_OF}[\s:]{{0,3}}$"
)
_OF_BILL = re.compile(rf"\W{{0,3}}(?:{any_of(*_BILL)}){_BEHIND}(?:{_ID})?[\s,;(]{{1,3}}{_OF}[\s:]{{0,3}}$")
_BILLS_OWN = re.compile(rf"(?:{any_of('bill')})")
_PERIOD_END = re.compile(
    r"(?<=[0-9]{2})[.)]?\s{0,2}(?:[-–—~〜]|to|until|bis|au|al|ate|hasta|tot|til|till|do|по|ila|至)\s{0,2}$"
)
_DATE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4}|[^\W\d_]{3}\.?,? (?:19|20)[0-9]{2}(?![0-9])")
"""A date between a word and another date: the word is its own."""
_DAY = re.compile(
    r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4}|[0-9]{1,2}\.? [^\W\d_]{3,10}\.? [0-9]{4}"
    r"|[^\W\d_]{3,10} [0-9]{1,2},? [0-9]{4}"
)
_WITH = r"(?:mit|abzugl(?:ich|\.)|abzgl\.?|with|less|minus|avec|moins|con|com|met|med|z|ze|s|se|cu)"
_REDUCED = rf"[.)]? {_WITH} (?:[^\s,;(]{{1,12}} ){{0,4}}?(?:{any_of('early_payment', 'discount_until', 'discount')})"
_IN_FULL = (
    r"[.)]? {0,2}\(?(?:rein )?(?:netto|net|ohne (?:jeden )?abzug|ohne skonto|without (?:any )?(?:deduction|discount)"
    r"|in full|sans escompte|sin descuento|senza sconto|sem desconto|zonder (?:korting|aftrek)|bez (?:skonta|slevy)"
    r"|uden rabat|utan (?:avdrag|rabatt)|uten rabatt|fara reducere)(?!\w)"
)
_BEHIND_DAY = {DISCOUNT_DATE: re.compile(_REDUCED), "DUE_DATE": re.compile(_IN_FULL)}
_WORDS_OF_EARLIER = re.compile(rf"^.*[0-9]{{2}}(?:{_REDUCED}|{_IN_FULL})")
"""Words behind an earlier date, in the key of a date."""
_PLACE = re.compile(
    r"[^\W\d_][^\W\d_. -]{2,30}(?:[ -][^\W\d_.]{2,20}){0,3}"
    r"(?:,\s?(?:den|am|le|li|il|a|em|dne|dnia|de)?|\s(?:den|le|li|dnia|dne))\s{1,3}$"
)
"""A place before a letter's date."""
_WORDS_BEHIND = re.compile(r"[.,]? ?[^\W\d_]{2}")


def role_before(lines: TextLines, mention: Mention) -> str | None:
    """Find the role that the words before a date or a number name."""
    return (date_role if mention.label in DATES else number_role)(lines, mention.start)


def date_role(lines: TextLines, start: int) -> str | None:
    """Find the role that the nearest words before a date name; `ANOTHER` for another day."""
    own, above = _keys(lines, start)
    begins_line = len(lines.before(start, BEFORE + 1)) <= BEFORE
    if role := _role_behind(lines, start):
        return role
    own = _WORDS_OF_EARLIER.sub("", own)
    if begins_line and _OF_BILL.match(own) and not _OF_ANOTHER.search(own):
        return "INVOICE_DATE"
    if role := _role_of_day(own) or _role_of_day(above):
        return role
    if _PERIOD_END.search(own):
        return ANOTHER
    return "INVOICE_DATE" if begins_line and is_behind_place(lines, start) else None


def _role_behind(lines: TextLines, start: int) -> str | None:
    """Find the role that the words right behind a date name: a payment with or without a discount."""
    behind = lines.after(start, BEFORE + LONGEST_DAY)
    day = _DAY.match(behind)
    words = folded(behind[day.end() :]) if day else ""
    return next((role for role, named in _BEHIND_DAY.items() if named.match(words)), None)


def is_behind_place(lines: TextLines, start: int) -> bool:
    """True if a place that begins the line stands before a date, and no words behind it: the day of the letter."""
    behind = lines.after(start, BEFORE)
    day = _DAY.match(behind)
    is_last = day is None or _WORDS_BEHIND.match(behind, day.end()) is None
    return is_last and _PLACE.fullmatch(_keys(lines, start)[0]) is not None


def is_alone(lines: TextLines, mention: Mention) -> bool:
    """True if no words stand beside a value in its cell but those of a bill's name, a place or a weekday."""
    cell = lines.row(lines.at(mention.start)).at(mention.start)
    if cell is None:
        return True
    before, behind = lines.between(cell.start, mention.start), lines.between(mention.end, cell.end)
    words = before.split() + behind.split()
    has_few = sum(any(map(str.isalpha, word)) for word in words) <= MOST_WORDS_BESIDE
    return has_few or _BILLS_OWN.search(folded(before)) is not None


@lru_cache(MOST_KEPT)
def _role_of_day(key: str) -> str | None:
    """Find the role that a date's key names."""
    if _OF_ANOTHER.search(key):
        return ANOTHER
    found = _DAYS.find(key)
    if not found:
        return None
    named = _nearest(key, found)
    if _DATE.search(key, named.end) and not _PERIOD_END.search(key):
        return None
    role = _DAY_ROLES[named.kind]
    is_prose = role == SUPPLY_DATE and count_letters(key[named.end :]) > MOST_LETTERS_TO_SUPPLY
    return None if is_prose else role


def _nearest(key: str, found: Sequence[PhraseMatch]) -> PhraseMatch:
    """Choose the last phrase of a date's key, or the one before if both are one name."""
    last = found[-1]
    if len(found) == 1:
        return last
    before = found[-2]
    gap, kinds = key[before.end : last.start], {before.kind, last.kind}
    if last.kind == "dated" and _ONE_NAME.fullmatch(gap):
        return before
    return before if kinds == {"dated", "supply"} and last.kind == "supply" and _TWO_NAMES.fullmatch(gap) else last


def is_named_as_bill(lines: TextLines, start: int) -> bool:
    """True if the key of a date or a number has a bill's name: on a credit note it is the credited bill's."""
    return any(_BILLS_OWN.search(key) for key in _keys(lines, start))


def number_role(lines: TextLines, start: int) -> str | None:
    """Find the role that the words right before a number name; `ANOTHER` for that of something else."""
    own, above = _keys(lines, start)
    role = _role_of_number(own) or _role_of_number(above)
    if role == ANOTHER and _DEPOSIT.fullmatch(own) and lines.after(start, BEFORE).count(" ") == 0:
        return "INVOICE_ID"
    return role or (MERE if _MERE.fullmatch(own) or (not own.strip() and _MERE.fullmatch(above)) else None)


@lru_cache(MOST_KEPT)
def _role_of_number(key: str) -> str | None:
    found = _longest(_ALL_NUMBERS, key)
    if found is None or any(
        day.end >= found[1].end("words") and day.start < found[1].start() for day in _DAYS.find(key)
    ):
        return None
    role, words = found
    return "INVOICE_ID" if role == ANOTHER and _JOINT.search(key, 0, words.start()) else role


def is_your_order(lines: TextLines, start: int) -> bool:
    """True if the words right before a number name an order by its buyer's number."""
    return any(_YOURS.search(key) for key in _keys(lines, start))


def check_digit(lines: TextLines, mention: Mention, bill: str | None) -> bool | None:
    """Tell whether a payment's reference has the check digit that its key promises; None where it promises none."""
    valid = (has_valid_check_digit(key, mention.value.text, bill) for key in _keys(lines, mention.start))
    return next((each for each in valid if each is not None), None)


def bill_number_words(key: str) -> tuple[str, re.Match[str]] | None:
    """Find the role and the words that end the key of a bill's or an order's number."""
    return _longest(_NUMBER_ROLES.items(), key)


def _longest(roles: Collection[tuple[str, re.Pattern[str]]], key: str) -> tuple[str, re.Match[str]] | None:
    """Find the role with the most words at the end of a key."""
    found = ((role, words.search(key)) for role, words in roles)
    named = [(role, match) for role, match in found if match]
    return min(named, key=lambda each: each[1].start(), default=None)


def _keys(lines: TextLines, start: int) -> tuple[str, str]:
    """Return the folded texts that may name a value: before it on its line, and the cell above it.

    A line that begins with a small letter goes on with the sentence of the line above.
    """
    own = lines.before(start, BEFORE)
    if own[:1].islower() and len(lines.before(start, BEFORE + 1)) <= BEFORE:
        own = f"{next(iter(lines.above(start, 1, LONGEST_SENTENCE)), '')[-BEFORE:]} {own}"
    return folded(own), folded(key_above(lines, start))
