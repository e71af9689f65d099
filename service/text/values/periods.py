"""Reads periods to ISO 8601: half years, and two dates with a mark or a word between, which may share their parts.

- `01.09. – 30.09.2025`: both have the year of the second; in `28 Dec – 4 Jan 2025` the first has the one before.
- `1 al 15 de marzo de 2025`, `March 1–15, 2025`: both have one month and one year.
- `2025年9月1日～15日`: the second has the year and month of the first.
- `2019 – present` is open: `2019/..`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from service.text.values import names
from service.text.values.normalization import WORD, key

Read = Callable[[str], list[str]]
"""Reads one date to its readings: none, one, or two."""

_TO = (
    "to|until|till och med|till|through|thru|bis|au|à|al|a|até|hasta|fino al|fino a|tot en met|tot|t/m|do|до|по|ila"
    "|til og med|til"
)
BETWEEN_WORDS = rf"(?:{_TO})(?:\s+(?:the|zum|den|el|le|il|o|dnia))?"
"""Words between the dates of a period, as a pattern."""
_RANGE = re.compile(
    r"\s*[–—~～〜]\s*|(?<=[0-9.])-(?=[0-9])|(?<=[^\W\d_])-(?=[^\W\d_])|(?<=[0-9Z])/(?=[0-9]{4}-)|\s+-+\s*|(?<=[\w.])-+\s+"
    rf"|(?<=[年月日년월일0-9])\s?(?:から|至|到|부터)\s?|\s+{BETWEEN_WORDS}\s+",
    re.IGNORECASE,
)
_MARKED = re.compile(r"[~～〜–—]|[^\W\d_]{3}\.?-[^\W\d_]{3}|[年月日년월일]\s?(?:から|至|到|부터|-)")
"""A mark of a period that no single date has."""
_BETWEEN = re.compile(
    r"(?:between|zwischen|entre|tussen|mellan|mellem|mezi|między|между)\s+(?:dem\s+|el\s+|le\s+)?", re.I
)
_AND = re.compile(r"\s+(?:and|und|et|y|e|en|och|og|a|i|и)\s+(?:dem\s+|el\s+|le\s+)?", re.IGNORECASE)
FROM_WORDS = "from the|from|vom|von|du|del|dal|desde el|desde|de|da|van|od|från|fra|с"
"""Words before the first date of a period, as a pattern."""
_FROM = re.compile(rf"(?:{FROM_WORDS})\s+", re.IGNORECASE)
_LONE_DAY = re.compile(
    rf"(?:(?P<weekday>{WORD.pattern})\.?,?\s)?(?P<day>[0-9]{{1,2}})(?:\.|er|st|nd|rd|th|º|°|ª|日)?", re.I
)
_DAY = re.compile(r"(?<![0-9])[0-9]{1,2}(?![0-9])")
_YEAR = re.compile(r"(?<![0-9])([0-9]{4})(?![0-9])|(?<![0-9./-])(?:[0-9]{1,2}[./-]){2}([0-9]{2})$")
_DAY_AND_YEAR = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?,? [0-9]{4}")
_YEAR_FIRST = re.compile(r"\D{0,3}[0-9]{4}(?![0-9])|(?:民國|民国|令和|平成)\s?[0-9]{1,3}年")
_REST = re.compile(r"(?:(?P<month>[0-9]{1,2}) ?[月월./-] ?)?(?P<day>[0-9]{1,2}) ?[日일.]?(?: ?まで)?")
_TURN_OF_YEAR_MONTHS = 6
"""Least months by which the first date comes after the second in the year where it is of the year before."""
_HALF = re.compile(
    r"(?:([12])\. ?(?:Halbjahr|half|semestre|semester|półrocze)|[HS]([12])|([12])H)[ /'’-]*([0-9]{4}|[0-9]{2})",
    re.IGNORECASE,
)
_NOW = frozenset(
    key(word)
    for word in "present now today current ongoing heute jetzt laufend présent actuel actuellement actualidad"
    " presente actual oggi atual heden nu obecnie teraz halen günümüz idag nykyinen dnes prezent настоящее 現在 至今"
    " 现在 현재".split()
)


def has_mark(text: str) -> bool:
    """True if a text has a mark of a period, so that it is no single date."""
    return _MARKED.search(text) is not None


def read_period(text: str, read: Read) -> list[str]:
    """Read a period from one date to another, or to now: one reading, or two if both dates have two."""
    if between := _BETWEEN.match(text):
        text = _AND.sub(" – ", text[between.end() :], count=1)
    for match in _RANGE.finditer(text):
        first, second = text[: match.start()].strip(), text[match.end() :].strip()
        if word := _FROM.match(first):
            first = first[word.end() :]
        if not first or not second:
            continue
        end = [".."] if key(second.strip(" .")) in _NOW else read(second)
        begin = read(first)
        if not begin or not end:
            begin, end = _shared_parts(first, second, match.group(), read)
            if list(map(len, begin)) != list(map(len, end)):
                continue
        if begin and len(begin) == len(end) and all(map(_in_order, begin, end)):
            return [f"{earlier}/{later}" for earlier, later in zip(begin, end, strict=True)]
    return _half(text)


def _in_order(begin: str, end: str) -> bool:
    return end == ".." or begin <= end


def _shared_parts(first: str, second: str, mark: str, read: Read) -> tuple[list[str], list[str]]:
    """Read the two dates of a period one of which has parts that both share."""
    lone = _LONE_DAY.fullmatch(first)
    if lone and (lone["weekday"] is None or _is_weekday(lone["weekday"], second)):
        return read(_DAY.sub(lone["day"], second, count=1)) if _DAY.search(second) else [], read(second)
    found = _YEAR.search(second)
    if found is None:
        return _year_first(first, second, mark, read)
    year = found[1] or found[2]
    begin, end = read(_with_year(first, year)), read(second)
    if not end and (days := _DAY_AND_YEAR.fullmatch(second)):
        end = read(_with_year(_DAY.sub(days[1], first, count=1), year))
    if begin and end and _month(begin[0]) - _month(end[0]) >= _TURN_OF_YEAR_MONTHS:
        begin = read(_with_year(first, str(int(end[0][:4]) - 1)))
    return begin, end


def _is_weekday(word: str, second: str) -> bool:
    """True if the word before a lone day names a weekday; of `Mar`, a month too, only if a day and a month follow."""
    if key(word) not in names.months():
        return key(word) in names.weekdays()
    months = [match.start() for match in WORD.finditer(second) if key(match.group()) in names.months()]
    return key(word) in names.weekdays() and max(months, default=0) > 0


def _month(reading: str) -> int:
    month = reading[5:7]
    return int(month) if month.isdecimal() else 0


def _with_year(first: str, year: str) -> str:
    return f"{first}{year}" if first.endswith((".", "/")) else f"{first}{'.' if first[-3:-2] == '.' else ' '}{year}"


def _year_first(first: str, second: str, mark: str, read: Read) -> tuple[list[str], list[str]]:
    """Read dates of which the second lacks the year that the first begins with."""
    begin, rest = read(first), _REST.fullmatch(second)
    if len(begin) != 1 or len(begin[0]) != len("2025-09-01") or rest is None or not _YEAR_FIRST.match(first):
        return [], []
    if mark == "-" and "-" in first:
        return [], []
    year, month, _ = begin[0].split("-")
    return begin, read(f"{year}-{int(rest['month'] or month):02}-{int(rest['day']):02}")


def _half(text: str) -> list[str]:
    """Read half a year as a period of months."""
    if match := _HALF.fullmatch(text):
        two_digits, first = match[4], match[1] or match[2] or match[3]
        year = two_digits if len(two_digits) > 2 else ("20" if int(two_digits) < 69 else "19") + two_digits
        return [f"{year}-01/{year}-06" if first == "1" else f"{year}-07/{year}-12"]
    return []
