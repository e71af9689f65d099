"""Reads dates as people write them in the languages of `names.LANGUAGES` to ISO 8601.

A date in numbers whose day and month could change places is read as its document writes others; where that does not
tell, both readings are given. With dots the day comes first in every country. Two digits of a year are 1969 to 2068,
as POSIX has it. A time of day beside a date is left out, and what is no date as a whole is none.
"""

from __future__ import annotations

import re
from datetime import date
from functools import partial

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.calendars import converted, gregorian_years
from service.text.values.context import Calendar, DocumentContext
from service.text.values.normalization import GAP, LONGEST_CHARACTERS, WORD, folded, key, plain
from service.text.values.periods import has_mark, read_period

_PLAIN_DATE = re.compile(
    r"((?:19|20)[0-9]{2}|[0-9]{1,2})([./-])([0-9]{1,2})([./-])((?:19|20)[0-9]{2}|[0-589]?[0-9])|(?:19|20)[0-9]{2}"
)
"""Dates in numbers that can be of no other calendar, as most bills have them, and years, as most résumés have them."""
ISO_TIME = (
    r"T[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]{1,9})?)?)?"
    r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?(?:\[[\w/+-]{1,40}\])?"
)
"""Time of day behind a date (ISO 8601, and RFC 9557 for a zone's name in brackets), as a pattern."""
_ISO_TIME = re.compile(rf"(?:(?<=[0-9]-[0-9]{{2}})|(?<=[0-9]{{8}})){ISO_TIME}$", re.IGNORECASE)
_HAS_TIME = re.compile(r":|[0-9]\s?(?:Uhr|h|[ap]\.?m)|kl|[時时시点點]", re.IGNORECASE)
_TIME = re.compile(
    r"[ ,]{0,3}(?:(?<=[0-9])T|(?<![^\W\d_])(?:um|at|à|a las|às|as|ore|alle|kl\.?|klo|godz\.?|saat|pukul|jam"
    r"|om|o|в|@|-|–|\|)"
    r"(?![^\W\d_]))?[ ,]{0,2}(?<![0-9.])(?:[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"|[0-9]{1,2}\.[0-9]{2}(?=\s?Uhr)|(?<=kl )[0-9]{1,2}\.[0-9]{2}|(?<=kl\. )[0-9]{1,2}\.[0-9]{2}"
    r"|(?<=klo )[0-9]{1,2}\.[0-9]{2}|[0-9]{1,2}(?=\s?(?:Uhr|[ap]\.?m))|[0-9]{1,2}\s?h(?:\s?[0-9]{2})?(?![^\W_])"
    r"|(?:(?:午前|午後|오전|오후|上午|下午)\s?)?[0-9]{1,2}[時时시点點](?:\s?[0-9]{1,2}[分분])?)"
    r"(?:\s?[ap]\.?(?:m\.?)?(?![^\W\d_]))?"
    r"(?:Z|\s?\(?(?:UTC|GMT|Uhr|hrs?|[A-Z]{2,4}T|ET|MSK|WIB)(?: ?[+-][0-9]{1,2}(?::?[0-9]{2})?)?"
    r"\)?|\s?[+-][0-9]{2}:?[0-9]{2})?$",
    re.IGNORECASE,
)
_TIME_FIRST = re.compile(r"^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\s?(?:Uhr|[ap]\.?m\.?))?[ ,]{1,3}(?=[0-9])", re.I)
_BRACKETED_NOTE = re.compile(r"\s?\(([0-9]{1,2}|[a-z])\)$")
_BRACKETED = re.compile(r"\s?\(([^()0-9]{1,12})\)")
_DIVIDED = re.compile(r"(?<=[^\W\d_])-\s*\n\s*(?=[^\W\d_])")
_SHORT_QUARTER = re.compile(r"(?:[QT]([1-4])[ /'’-]*|([1-4])[QT][ /'’-]*)([0-9]{4}|[0-9]{2})", re.IGNORECASE)
_MONTH_YEAR = re.compile(r"([^\W\d_]{3,9})\.?[-/]([0-9]{2})")
_ROMAN = re.compile(r"([0-9]{1,2})[. /-]{1,2}(I{1,3}|IV|VI{0,3}|IX|XI{0,2}|X)[. /-]{1,2}([0-9]{4}|[0-9]{2})")
_ENGLISH_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_ROMAN_MONTHS = "I II III IV V VI VII VIII IX X XI XII".split()
_VIETNAMESE = re.compile(r"(?:ngày )?([0-9]{1,2}) tháng ([0-9]{1,2}),?(?: năm)? ([0-9]{4})", re.IGNORECASE)
_THAI_MONTH = re.compile("(?:ม\\.ค|ก\\.พ|มี\\.ค|เม\\.ย|พ\\.ค|มิ\\.ย|ก\\.ค|ส\\.ค|ก\\.ย|ต\\.ค|พ\\.ย|ธ\\.ค)\\.?")
_THAI_MONTHS = dict(zip("มค กพ มีค เมย พค มิย กค สค กย ตค พย ธค".split(), _ENGLISH_MONTHS, strict=True))
_THAI_MARKS = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
_OTHER_YEAR = re.compile(r"(?<![0-9])1[34][0-9]{2}(?![0-9])")
_HUNGARIAN_CASE = re.compile(r"(?<=[0-9])\.?-[jáéeai]{0,2}[ni](?!\w)")
_EAST_ASIAN = re.compile(r"([0-9]{2,4})\s?[年년]\s?([0-9]{1,2})\s?[月월](?:\s?([0-9]{1,2})\s?[日일])?")
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|ère|er|ème|eme|º|ª|°)(?![^\W\d_])", re.IGNORECASE)
_TOKEN = re.compile(rf"[0-9]+|{WORD.pattern}|['’./,-]|\S")
_FILLERS = frozenset(
    key(word)
    for word in "the this day of on dated in le la el den der dem am vom ab il lo dia de del do da i d em en zo op"
    " dnia dne dn r р рік року ngày năm m d gada วันที่ rok roku г года год году от yılı tarihli tarihinde anno ano an ar"
    " vuonna kl pa fra date v og et"
    " and month سنة عام م".split()
)
_YEAR_SIGNS = str.maketrans("年년", "  ")
_EARLIEST, _LATEST = 1000, 2399
_Token = tuple[str, str]
"""`number`, `month` or `mark`, and its text."""


def read_date(text: str, context: DocumentContext) -> Value | None:
    """Read the date, month, quarter, year or period in a text; None if it is none."""
    if len(text) > LONGEST_CHARACTERS:
        return None
    read = partial(_read, context=context)
    bare = plain(_DIVIDED.sub("", text) if "\n" in text else text).replace(GAP, " ")
    bare = _BRACKETED_NOTE.sub("", bare) if bare.endswith(")") else bare
    is_period = has_mark(bare)
    found = read_period(bare, read) if is_period else []
    found = found or read(bare) or ([] if is_period else read_period(bare, read))
    this_year = date.today().year
    if any(int(reading[:4]) > this_year for reading in found) and context.is_birth(text):
        found = [
            f"{int(reading[:4]) - 100}{reading[4:]}" if int(reading[:4]) > this_year else reading for reading in found
        ]
    if len(found) > 1:
        return Value(ValueKind.DATE, folded(text), ambiguous=tuple(found))
    return Value(ValueKind.DATE, found[0]) if found else None


def _read(text: str, context: DocumentContext) -> list[str]:
    """Read one date; at most two readings."""
    if match := _PLAIN_DATE.fullmatch(text):
        day, mark, month, second_mark, year = match.groups()
        return _numeric([day, month, year], mark + second_mark, context) if day else [text]
    if not any(map(str.isdigit, text)) and text.isascii():
        return []
    if "(" in text:
        text = _BRACKETED.sub(_without_weekday, text)
    if "T" in text or "t" in text:
        text = _ISO_TIME.sub("", text)
    if _HAS_TIME.search(text):
        text = _TIME_FIRST.sub("", _TIME.sub("", _TIME.sub("", text)).strip(" .,;:()[]"))
    else:
        text = text.strip(" .,;:()[]")
    if not text.isascii():
        text = _HUNGARIAN_CASE.sub("", _VIETNAMESE.sub(r"\1.\2.\3", _thai(text)))
    text = _ORDINAL.sub(r"\1", text)
    if (calendar := _calendar(text, context)) and (found := converted(text, calendar)):
        return found
    text = gregorian_years(text, context)
    if not text.isascii() and (match := _EAST_ASIAN.search(text)):
        year, month, day = _year(match[1]), int(match[2]), match[3]
        return _certain(_day(year, month, int(day)) if day else _month(year, month))
    if match := _ROMAN.fullmatch(text):
        return _certain(_day(_year(match[3]), _ROMAN_MONTHS.index(match[2]) + 1, int(match[1])))
    if (match := _MONTH_YEAR.fullmatch(text)) and (months := names.meanings(names.months(), key(match[1]), context)):
        return [reading for month in months for reading in _certain(_month(_year(match[2]), int(month)))]
    if found := _quarter(text):
        return found
    readings = [reading for tokens in _tokens(text, context) for reading in _of_tokens(tokens, context)]
    return list(dict.fromkeys(readings))[:2]


def _thai(text: str) -> str:
    """Replace Thai abbreviations of months by English ones, and remove marks above and below letters."""
    text = _THAI_MONTH.sub(lambda match: _THAI_MONTHS[match.group().replace(".", "")], text)
    return _THAI_MARKS.sub("", text)


def _without_weekday(match: re.Match[str]) -> str:
    """Replace brackets with a weekday by nothing; leave others."""
    return "" if key(match[1].strip(" .")) in names.weekdays() else match.group()


def _calendar(text: str, context: DocumentContext) -> Calendar | None:
    """Choose the calendar of a date with a year of 1300 to 1499; None of other dates."""
    if not _OTHER_YEAR.search(text):
        return None
    return context.calendar or (None if text.isascii() else Calendar.HIJRI)


def _quarter(text: str) -> list[str]:
    """Read `Q3 2024`, or a language's words for it."""
    if match := _SHORT_QUARTER.fullmatch(text):
        return [f"{_year(match[3])}-Q{match[1] or match[2]}"]
    years = re.findall(r"(?<![0-9])[0-9]{4}(?![0-9])", text)
    if len(years) != 1:
        return []
    quarter = names.quarters().get(names.bare(text.replace(years[0], " ").translate(_YEAR_SIGNS)))
    return _certain(f"{years[0]}-Q{quarter}" if quarter else None)


def _tokens(text: str, context: DocumentContext) -> list[list[_Token]]:
    """Split a text into numbers, months and marks, twice if a month's name has two meanings; [] for other words."""
    tokens: list[_Token] = []
    second: dict[int, _Token] = {}  # of the names with two meanings, by their place
    ambiguous_weekday = None
    months = names.months()
    for found in _TOKEN.findall(text):
        if found.isdecimal():
            tokens.append(("number", found))
        elif found in "./,'’-":
            tokens.append(("mark", found))
        elif (name := word if (word := key(found)) in months else word.removeprefix("ב")) in months:
            meanings = names.meanings(months, name, context)
            if word in names.weekdays() and ambiguous_weekday is None:
                ambiguous_weekday = len(tokens)
            if len(meanings) > 1:
                second[len(tokens)] = ("month", meanings[1])
            tokens.append(("month", meanings[0]))
        elif word not in names.weekdays() and word not in _FILLERS:
            return []
    found_ways = [tokens, [second.get(place, token) for place, token in enumerate(tokens)]] if second else [tokens]
    if ambiguous_weekday is not None and sum(kind == "month" for kind, _ in tokens) == 2:
        for way in found_ways:
            del way[ambiguous_weekday]
    return found_ways


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
        case "nnm" if len(texts[0]) == 4:
            return _certain(_day(int(texts[0]), int(texts[2]), int(texts[1])))
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
    """Read `04/2017` and `2017-04`; two years of four digits, or `2017/18`, are a period."""
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
    except (ValueError, OverflowError):
        return None
