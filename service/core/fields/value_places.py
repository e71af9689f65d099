"""Places of values in a text: those of an equal mention, or else of the value's written forms."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal

from service.core.decoding.value import Value, ValueKind
from service.core.fields.mentions import Choice, Mention
from service.core.fields.roles import SUPPLY_DATE, RoleGroup, labels_of
from service.core.fields.vocabulary.phrases import letters_of

SEARCHED_CHARACTERS = 200_000
"""Characters of a text that are searched for values which no entity has."""
LONGEST_SEARCHED_ID = 40
"""Most letters and digits of an IBAN, a BIC or a tax number that is searched; real ones have fewer."""
SHORTEST_PART = 5
"""Least letters and digits of a name that counts as equal to a longer one which contains it."""
_THOUSANDS = r"[.,'’ \u00a0\u202f]?"
_BETWEEN_DAYS = r"[^\d\n]{1,12}"
"""What stands between the two days of a period."""
_PARTIES = frozenset(labels_of(RoleGroup.PARTY))


class SearchableText:
    """A text in lower case with each run of white space as one blank, and the place of each character in the text.

    `str.find` searches it in linear time; a regular expression would not where words repeat.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._lower = _lower(text)
        self._places = [
            at
            for found in re.finditer(r"\S+|\s+", text)
            for at in ((found.start(),) if found[0].isspace() else range(*found.span()))
        ]

    def find(self, words: str, start: int = 0, end: int = SEARCHED_CHARACTERS) -> tuple[int, int] | None:
        """Find words between two places of the text, not as part of other words."""
        needle = _lower(words).strip()
        at = bisect_left(self._places, start)
        last = bisect_left(self._places, end)
        while needle and (at := self._lower.find(needle, at, last)) >= 0:
            behind = at + len(needle)
            neighbours = self._lower[max(at - 1, 0) : at], self._lower[behind : behind + 1]
            if not any(map(_is_word_character, neighbours)):
                return self._places[at], self._places[behind - 1] + 1
            at = behind
        return None


def _lower(text: str) -> str:
    """Lower the case of letters whose lower case is one letter; make each run of white space one blank."""
    small = (sign if len(sign) == 1 else character for character in text for sign in (character.lower(),))
    return re.sub(r"\s+", " ", "".join(small))


def _is_word_character(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def place_of(
    label: str, value: Value, text: SearchableText, mentions: Sequence[Mention], choice: Choice | None
) -> tuple[int, int] | None:
    """Find a value's place: the page's choice, else a mention with its label, else any mention, else its characters."""
    stated = letters_of(value.text)
    if choice is not None and is_equal(label, value, stated, choice.best):
        return choice.best.start, choice.best.end
    equal = [mention for mention in mentions if is_equal(label, value, stated, mention)]
    if equal:
        best = min(equal, key=lambda mention: (mention.label != label, mention.start))
        return best.start, best.end
    if value.kind is ValueKind.TEXT:
        return text.find(value.text)
    found = re.search(_pattern(value), text.text, re.IGNORECASE)
    return found.span() if found and found.group() else None


def is_equal(label: str, value: Value, stated: str, mention: Mention) -> bool:
    """True if a mention shows a value; `stated`: the letters and digits of the value's text."""
    found = mention.value
    if value.number is not None:
        return found.kind is value.kind and found.number is not None and abs(found.number) == abs(value.number)
    if value.kind is ValueKind.DATE:
        readings = (found.text, *found.ambiguous)
        return value.text in readings or (label == SUPPLY_DATE and _overlaps(value.text, found))
    shown = letters_of(mention.text)
    if label in _PARTIES:
        shorter, longer = sorted((stated, shown), key=len)
        return stated == shown or (len(shorter) >= SHORTEST_PART and shorter in longer and mention.label in _PARTIES)
    return stated == shown or stated == letters_of(found.text)


def _overlaps(stated: str, shown: Value) -> bool:
    """True if the page shows a day in a stated period, or a period that the stated day is in."""
    days, others = stated.split("/"), shown.text.split("/")
    return shown.kind is ValueKind.DATE and days[0] <= f"{others[-1]}~" and others[0] <= f"{days[-1]}~"


def _pattern(value: Value) -> str:
    """Make a regular expression for the written forms of a value that is no text; short, so that it is linear."""
    if value.kind is ValueKind.DATE:
        return _BETWEEN_DAYS.join(map(_day_pattern, value.text.split("/")))
    if value.number is not None:
        return number_pattern(value.number)
    letters = letters_of(value.text)
    spaced = r"\s?".join(letters if len(letters) <= LONGEST_SEARCHED_ID else "")
    return rf"(?<!\w){spaced}(?!\w)"


def _day_pattern(text: str) -> str:
    year, month, day = text.split("-")
    of_month, of_year = rf"0?{int(month)}", rf"(?:{year}|{year[2:]})"
    orders = (rf"0?{int(day)}[./ -]{of_month}[./ -]{of_year}", rf"{of_month}[/-]0?{int(day)}[/-]{of_year}")
    return rf"(?<!\d)(?:{year}[-/.]{of_month}[-/.]0?{int(day)}|{'|'.join(orders)})(?!\d)"


def number_pattern(number: Decimal) -> str:
    whole, _, part = format(abs(number), "f").partition(".")
    groups = _THOUSANDS.join(f"{int(whole):,}".split(","))
    part = part.rstrip("0")
    lengths = sorted({len(part), 2, 4} - {3} | {len(part)})  # three digits behind a point may be thousands
    forms = "|".join(part.ljust(length, "0") for length in lengths if length >= max(len(part), 1))
    decimals = f"[.,](?:{forms})" if part else f"(?:[.,](?:{forms}|-))?"
    return rf"(?<![\d.,]){groups}{decimals}(?!\d|[.,]\d)"
