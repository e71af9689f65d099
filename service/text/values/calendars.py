"""Calendars other than the Gregorian: years of eras, Buddhist and Republican years, Hijri and Persian dates.

The rule: a year is one of another calendar only where the date itself or its document says so; a Hijri date has two
readings, since it is a day earlier or later by country.
"""

from __future__ import annotations

import re
from datetime import date

from service.text.values.context import Calendar, DocumentContext

_ERAS = {
    "令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民國": 1911, "民国": 1911, "中華民國": 1911,
    "令": 2018, "平": 1988, "昭": 1925, "大": 1911, "明": 1867,
    "R": 2018, "H": 1988, "S": 1925, "T": 1911, "M": 1867,
}  # fmt: skip
"""Name of an era → the year before its first."""
_ERA = re.compile(
    r"(?:(?P<name>令和|平成|昭和|大正|明治|中華民國|民國|民国) ?|(?<!\w)(?P<letter>[RHSTM令平昭大明]) ?"
    r"(?=[0-9元]{1,2} ?[年./-] ?[0-9]{1,2} ?[月./-] ?[0-9]{1,2}))(?P<count>[0-9]{1,3}|元) ?(?P<mark>[年./-])"
)
_HAN_DIGITS = {each: str(value) for value, each in enumerate("〇一二三四五六七八九")} | {"零": "0"}
_HAN_NUMBER = re.compile(r"[〇零一二三四五六七八九十]{1,4}(?= ?[年月日])")
_BUDDHIST_YEAR = re.compile(r"(?:พศ|พ\.ศ\.|B\.?E\.?)? ?(?<![0-9])(2[45][0-9]{2})(?![0-9])(?: ?B\.?E\.?)?")
_BUDDHIST_SHORT = re.compile(r"(?<=[/. -])(6[0-9]|7[0-5])$")
_MAYBE_BUDDHIST = re.compile(r"2[45][0-9]{2}|[67][0-9]$")
_REPUBLICAN_YEAR = re.compile(r"1[0-9]{2}(?= ?[年./-] ?[0-9]{1,2})")
_BEFORE_BUDDHIST, _BEFORE_REPUBLICAN = 543, 1911
_YEAR_FIRST = re.compile(r"(1[34][0-9]{2})[/.-]([0-9]{1,2})[/.-]([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})[/.-]([0-9]{1,2})[/.-](1[34][0-9]{2})")
_NAMED = re.compile(r"([0-9]{1,2}) ([^\W\d_]+(?: [^\W\d_]+)?) (1[34][0-9]{2})")
_PERSIAN_MONTHS = "فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند".split()
_HIJRI_MONTHS = (
    "محرم", "صفر", "ربيع الأول", "ربيع الآخر", "جمادى الأولى", "جمادى الآخرة", "رجب", "شعبان", "رمضان", "شوال",
    "ذو القعدة", "ذو الحجة",
)  # fmt: skip
_HIJRI_EPOCH = 227_014
"""Ordinal of the day before 1 Muharram 1 in the civil tabular calendar (Reingold and Dershowitz)."""
_PERSIAN_FIRST, _PERSIAN_FIRST_YEAR, _PERSIAN_LAST_YEAR = date(1921, 3, 21), 1300, 1472
_PERSIAN_LEAPS = frozenset((1, 5, 9, 13, 17, 22, 26, 30))
"""Remainders by 33 of the leap years of 1244 to 1472."""


def gregorian_years(text: str, context: DocumentContext) -> str:
    """Replace years of eras and of the document's calendar by Gregorian years, and Han numbers by digits."""
    if not text.isascii():
        text = _HAN_NUMBER.sub(lambda match: _number(match.group()), text)
    if match := _ERA.search(text):
        count = 1 if match["count"] == "元" else int(match["count"])
        year = _ERAS[match["name"] or match["letter"]] + count
        return f"{text[: match.start()]}{year}{match['mark']}{text[match.end() :]}"
    if _MAYBE_BUDDHIST.search(text) and (context.calendar is Calendar.BUDDHIST or "พ" in text or "B.E." in text):
        text = _BUDDHIST_YEAR.sub(lambda match: str(int(match[1]) - _BEFORE_BUDDHIST), text)
        return _BUDDHIST_SHORT.sub(lambda match: str(2500 + int(match[1]) - _BEFORE_BUDDHIST), text)
    if (match := _REPUBLICAN_YEAR.match(text)) and ("年" in text or context.calendar is Calendar.REPUBLICAN):
        return f"{int(match.group()) + _BEFORE_REPUBLICAN}{text[match.end() :]}"
    return text


def converted(text: str, calendar: Calendar | None) -> list[str]:
    """Convert a Persian or Hijri date to its Gregorian readings; other dates have none."""
    found = _parts(text)
    if found is None:
        return []
    year, month, day, named = found
    calendar = named or calendar
    if calendar is Calendar.PERSIAN and _PERSIAN_FIRST_YEAR <= year < _PERSIAN_LAST_YEAR:
        leaps = sum(earlier % 33 in _PERSIAN_LEAPS for earlier in range(_PERSIAN_FIRST_YEAR, year))
        days = 365 * (year - _PERSIAN_FIRST_YEAR) + leaps + 30 * (month - 1) + min(month - 1, 6) + day - 1
        return [date.fromordinal(_PERSIAN_FIRST.toordinal() + days).isoformat()]
    if calendar is Calendar.HIJRI:
        days = 354 * (year - 1) + (3 + 11 * year) // 30 + 29 * (month - 1) + month // 2 + day
        return [date.fromordinal(_HIJRI_EPOCH + days - before).isoformat() for before in (0, 1)]
    return []


def _parts(text: str) -> tuple[int, int, int, Calendar | None] | None:
    """Split a date into year, month, day, and the calendar of its month's name."""
    named = None
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = map(int, match.groups())
    elif match := _YEAR_LAST.fullmatch(text):
        day, month, year = map(int, match.groups())
    elif match := _NAMED.fullmatch(text):
        names = _PERSIAN_MONTHS if match[2] in _PERSIAN_MONTHS else _HIJRI_MONTHS
        if match[2] not in names:
            return None
        day, month, year = int(match[1]), names.index(match[2]) + 1, int(match[3])
        named = Calendar.PERSIAN if names is _PERSIAN_MONTHS else Calendar.HIJRI
    else:
        return None
    return (year, month, day, named) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _number(written: str) -> str:
    """Write a number in Han characters as digits: `二〇二五` → 2025, `三十一` → 31."""
    tens, has_tens, ones = written.partition("十")
    if has_tens:
        return str(10 * int(_HAN_DIGITS.get(tens, "1")) + int(_HAN_DIGITS.get(ones, "0")))
    return "".join(map(_HAN_DIGITS.__getitem__, written))
