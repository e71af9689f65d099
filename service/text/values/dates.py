"""Dates: ISO 8601 from how people write them in the languages read (`names.LANGUAGES`).

A date in numbers whose day and month could change places is read as its document writes others; where that does not
tell, both readings are given. With dots the day comes first in every country. Two digits of a year are 1969 to 2068,
as POSIX has it. A time of day beside a date is left out, and what is no date as a whole is none.
"""

from __future__ import annotations

import re
from datetime import date

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.script import GAP, LONGEST_CHARACTERS, WORD, folded, key, plain

_TIME = re.compile(
    r"[T ,]{0,3}(?<![0-9.])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?:\s?[ap]\.?(?:m\.?)?(?![^\W\d_]))?(?:Z|\s?(?:UTC|GMT|Uhr|CET|CEST|EST)|\s?[+-][0-9]{2}:?[0-9]{2})?$",
    re.IGNORECASE,
)
_ERA = re.compile(r"(令和|平成|昭和|大正|明治|民國|民国|中華民國)\s?([0-9]{1,3}|元)\s?年")
_ERA_BEFORE_FIRST_YEAR = {
    "令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民國": 1911, "民国": 1911, "中華民國": 1911,
}  # fmt: skip
_EAST_ASIAN = re.compile(r"([0-9]{2,4})\s?[年년]\s?([0-9]{1,2})\s?[月월](?:\s?([0-9]{1,2})\s?[日일])?")
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|ère|er|ème|eme|º|ª|°)(?![^\W\d_])", re.IGNORECASE)
_TOKEN = re.compile(rf"[0-9]+|{WORD.pattern}|['’./,-]|\S")
_RANGE = re.compile(
    r"\s*[–—~～〜]\s*|\s+-+\s+|\s+(?:to|until|till|bis|au|à|al|até|tot|t/m|do|по|a|ila|til|till)\s+", re.I
)
_NOW = frozenset(
    key(word)
    for word in "present now today current ongoing heute jetzt laufend présent actuel actuellement actualidad"
    " presente actual oggi atual heden nu obecnie teraz halen günümüz idag nykyinen dnes prezent настоящее 現在 至今"
    " 现在 현재".split()
)
_FILLERS = frozenset(
    key(word)
    for word in "the this day of on dated in le la el den der dem am vom ab il lo dia de del do da i d em en zo op"
    " dnia dne dn r rok roku г года год году от yılı tarihli tarihinde anno ano an ar vuonna kl pa fra date v og et"
    " and month سنة عام م".split()
)
_YEAR_SIGNS = str.maketrans("年년", "  ")
_EARLIEST, _LATEST = 1000, 2999
_Token = tuple[str, str]
"""`number`, `month` or `mark`, and its text."""


def read_date(text: str, context: DocumentContext) -> Value | None:
    """The date, month, quarter, year or period in a text; None if it is none."""
    if len(text) > LONGEST_CHARACTERS:
        return None
    bare = plain(text).replace(GAP, " ")
    found = _read(bare, context) or _period(bare, context)
    if len(found) > 1:
        return Value(ValueKind.DATE, folded(text), ambiguous=tuple(found))
    return Value(ValueKind.DATE, found[0]) if found else None


def _period(text: str, context: DocumentContext) -> list[str]:
    """From one date to another, or to now; each of them certain."""
    for match in _RANGE.finditer(text):
        first, second = text[: match.start()], text[match.end() :]
        begin = _read(first, context)
        end = [".."] if key(second.strip(" .")) in _NOW else _read(second, context)
        if len(begin) == len(end) == 1:
            return [f"{begin[0]}/{end[0]}"]
    return []


def _read(text: str, context: DocumentContext) -> list[str]:
    """The readings of one date; no more than two."""
    text = _ORDINAL.sub(r"\1", _TIME.sub("", text).strip(" .,;:()[]"))
    if match := _ERA.search(text):
        count = 1 if match[2] == "元" else int(match[2])
        text = f"{text[: match.start()]}{_ERA_BEFORE_FIRST_YEAR[match[1]] + count}年{text[match.end() :]}"
    if match := _EAST_ASIAN.search(text):
        year, month, day = _year(match[1]), int(match[2]), match[3]
        return _certain(_day(year, month, int(day)) if day else _month(year, month))
    return _quarter(text) or _of_tokens(_tokens(text, context), context)


def _quarter(text: str) -> list[str]:
    """`Q3 2024`, or what a language calls it."""
    years = re.findall(r"(?<![0-9])[0-9]{4}(?![0-9])", text)
    if len(years) != 1:
        return []
    quarter = names.quarters().get(names.bare(text.replace(years[0], " ").translate(_YEAR_SIGNS)))
    return _certain(f"{years[0]}-Q{quarter}" if quarter else None)


def _tokens(text: str, context: DocumentContext) -> list[_Token]:
    """The numbers, months and marks of a text; empty if it has a word that no date has."""
    tokens: list[_Token] = []
    ambiguous_weekday = None
    for found in _TOKEN.findall(text):
        word = key(found)
        if found.isdigit():
            tokens.append(("number", found))
        elif (month := names.meaning(names.months(), word, context)) is not None:
            if word in names.weekdays() and ambiguous_weekday is None:
                ambiguous_weekday = len(tokens)
            tokens.append(("month", month))
        elif found in "./,'’-":
            tokens.append(("mark", found))
        elif word not in names.weekdays() and word not in _FILLERS:
            return []
    if ambiguous_weekday is not None and sum(kind == "month" for kind, _ in tokens) == 2:
        del tokens[ambiguous_weekday]
    return tokens


def _of_tokens(tokens: list[_Token], context: DocumentContext) -> list[str]:
    parts = [(kind, text) for kind, text in tokens if kind != "mark"]
    marks = "".join(text for kind, text in tokens if kind == "mark")
    texts = [text for _, text in parts]
    match "".join(kind[0] for kind, _ in parts):
        case "nnn":
            return _numeric(texts, marks, context)
        case "nmn" if len(texts[0]) == 4:
            return _certain(_day(int(texts[0]), int(texts[1]), int(texts[2])))
        case "nmn":
            return _certain(_day(_year(texts[2]), int(texts[1]), int(texts[0])))
        case "mnn":
            return _certain(_day(_year(texts[2]), int(texts[0]), int(texts[1])))
        case "mn" if len(texts[1]) == 4 or "'" in marks or "’" in marks:
            return _certain(_month(_year(texts[1]), int(texts[0])))
        case "nm" if len(texts[0]) == 4:
            return _certain(_month(int(texts[0]), int(texts[1])))
        case "nn" if marks:
            return _month_in_numbers(*texts)
        case "n":
            return _lone_number(texts[0])
    return []


def _numeric(texts: list[str], marks: str, context: DocumentContext) -> list[str]:
    """A date in three numbers."""
    first, second, third = map(int, texts)
    if len(texts[0]) == 4:
        return _certain(_day(first, second, third))
    if len(texts[0]) > 2 or len(texts[2]) not in (2, 4) or set(marks.strip(".,")) - set("./-"):
        return []
    year = _year(texts[2])
    order = context.date_order
    if len(texts[2]) == 2 and order == "ymd" and (found := _day(_year(texts[0]), second, third)):
        return [found]
    by_day, by_month = _day(year, second, first), _day(year, first, second)
    if "." in marks.lstrip(",")[:1] or by_month is None or by_day == by_month:
        return _certain(by_day or by_month)
    if by_day is None or order == "mdy":
        return [by_month]
    return [by_day] if order == "dmy" else [by_day, by_month]


def _month_in_numbers(first: str, second: str) -> list[str]:
    """`04/2017`, `2017-04`; two years of four digits, or `2017/18`, are a period."""
    if len(second) == 4 and len(first) <= 2:
        return _certain(_month(int(second), int(first)))
    if len(first) == 4 and len(second) <= 2:
        if found := _month(int(first), int(second)):
            return [found]
        following = int(first) + 1
        return [f"{first}/{following}"] if following % 100 == int(second) else []
    if len(first) == len(second) == 4 and _EARLIEST <= int(first) < int(second) <= _LATEST:
        return [f"{first}/{second}"]
    return []


def _lone_number(text: str) -> list[str]:
    if len(text) == 8:
        return _certain(_day(int(text[:4]), int(text[4:6]), int(text[6:])))
    return [text] if len(text) == 4 and _EARLIEST <= int(text) <= _LATEST else []


def _certain(found: str | None) -> list[str]:
    return [found] if found else []


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) > 2 else year + (2000 if year < 69 else 1900)


def _month(year: int, month: int) -> str | None:
    return f"{year:04}-{month:02}" if 1 <= month <= 12 and _EARLIEST <= year <= _LATEST else None


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat() if _EARLIEST <= year <= _LATEST else None
    except ValueError:
        return None
