"""Document context settles how values are read: the document's language, countries, dates and amounts.

Each part is read from the text at its first use, in bounded time: signs are searched at the text's beginning and end,
where documents have them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

from babel.numbers import get_territory_currencies
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneNumber, region_code_for_number

from service.core.decoding.offsets import compose
from service.core.decoding.value import Value
from service.text.values import names
from service.text.values.languages import language_of
from service.text.values.normalization import WORD, key
from service.text.values.number_marks import PAGE_CHARACTERS, NumberMarks, grouped_numbers, read_marks

HEAD_CHARACTERS = 12_000
TAIL_CHARACTERS = 4_000
_NUMERIC_DATE = re.compile(r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-])")
_DOMAIN = re.compile(r"[\w-]\.([a-z]{2})(?![\w.@-])")
_CALLING_CODE = re.compile(r"(?<!\w)\+(?:1[ .(/-]{0,3}(\d{3})[ .)/-]{0,3}(\d{3})|([1-9]\d{0,2}))")
_NUMBERED_BY_COUNTRY = re.compile(r"(?<!\w)([A-Z]{2})\d{2} ?(?:[A-Z0-9]{4} ?){3}|(?<!\w)([A-Z]{2})U?[ ]?\d{8,12}(?!\w)")
_CODE = re.compile(r"(?<![A-Z])[A-Z]{3}(?![A-Z])")
_SIGNS = {"£": "GB", "zł": "PL", "Kč": "CZ", "₽": "RU", "₺": "TR", "₹": "IN", "₩": "KR", "円": "JP", "Ft": "HU"}
_SHORT_NAMES = {"usa": "US", "uk": "GB", "uae": "AE"}
_DOMAINS = {"uk": "GB", "eu": None, "io": None, "co": None, "ai": None, "me": None, "tv": None, "cc": None}
_BIRTH = re.compile(
    r"(?<!\w)(?:(?:date of )?birth|birthdate|born|dob|d\.o\.b\.|geb(?:oren|urtsdatum|urtstag|\.)|née? le|naissance"
    r"|nacimiento|nacid[oa]|nascita|nat[oa] il|nascimento|nascid[oa]|geboortedatum|urodz\w*|рожд\w+|doğum|född\w*"
    r"|født|fødselsdato|syntynyt|syntymäaika|narozen\w*|născut\w*|data nașterii)(?!\w)"
    r"|生年月日|出生|생년월일|الميلاد|जन्म",
    re.IGNORECASE,
)
_AFTER_BIRTH_CHARACTERS = 48
"""Characters behind a word for a birth within which its date stands."""
_STATES = frozenset(
    "AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR"
    " PA RI SC SD TN TX UT VA VT WA WI WV WY".split()
)
_STATE_AND_ZIP = re.compile(r"([A-Z]{2})\.?,? [0-9]{5}(?:-[0-9]{4})?(?![0-9])")
_TAIWAN = re.compile(r"民國|統一編號|統編|統一發票|NT\$|台[灣北]")
_REGION_SIGNS = {
    "TW": _TAIWAN,
    "MY": re.compile(r"RM ?[0-9](?<![A-Za-z]RM.)(?<![A-Za-z]RM .)|S(?:dn|DN)\.? ?B(?:hd|HD)\b|\(RM\)"),
    "IN": re.compile(r"GSTIN|[CS]GST\b|/-(?<=[0-9]/-)(?![0-9])"),
    "AU": re.compile(r"ABN:? ?[0-9]{2}(?: ?[0-9]{3}){2}|Pty\.? Ltd\b"),
    "SG": re.compile(r"S\$(?<![A-Z]S.) ?[0-9]|Pte\.? Ltd\b"),
    "ID": re.compile(r"Rp(?<![A-Za-z]Rp)\.? ?[0-9]"),
    "ZA": re.compile(r"R ?[0-9](?<![A-Za-z]R.)(?<![A-Za-z]R .)[0-9]{0,2}(?: [0-9]{3}){0,3}[.,][0-9]{2}(?![0-9])"),
    "GB": re.compile(r"[0-9][A-Z0-9]? [0-9][A-Z]{2}(?![A-Z0-9])(?:(?<=[A-Z][0-9] ...)|(?<=[A-Z][0-9]. ...))"),
}
"""Country (ISO 3166) → forms of addresses, companies, taxes and prices that it alone has."""
_BILL = re.compile(r"\b(?:invoice|credit note|credit memo|amount due)\b", re.IGNORECASE)
_BANK_STATEMENT = re.compile(
    r"\b(?:bank statement|account statement|opening balance|closing balance|balance (?:brought|carried) forward"
    r"|sort code|overdraft|current account)\b",
    re.IGNORECASE,
)
_NAMED = 2
"""Weight of a country's name, domain, calling code or numbers; a currency's weight is 1."""


class Calendar(Enum):
    """Calendars whose years are not those of the common era."""

    BUDDHIST = "buddhist"
    REPUBLICAN = "republican"
    HIJRI = "hijri"
    PERSIAN = "persian"


_CALENDARS = (
    (Calendar.BUDDHIST, re.compile("[\u0e01-\u0e2e]|฿|(?<![A-Z])THB(?![A-Z])|Bangkok")),
    (Calendar.REPUBLICAN, _TAIWAN),
    (Calendar.PERSIAN, re.compile("[پچژگ]|ی(?=[\u0600-\u06ff])")),
    (Calendar.HIJRI, re.compile("[\u0621-\u064a]|(?<![A-Z])(?:SAR|AH)(?![A-Z])")),
)
"""Calendar → signs of a document that may have dates in it; the first that fits counts."""


class ReadingFailure(NamedTuple):
    """A reader that raised, its exception's type, and the line of code that raised it; nothing of the document."""

    reader: str
    error: str
    line: str


class DocumentContext:
    """The reading context of one document's text.

    Attributes:
        readings: values by reader and text: dates are read for their borders, then for the answer.
        sign_currencies: currencies that the document may mean by those that share a sign.
        failures: readers that raised (`reading.shielded`).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.readings: dict[tuple[object, str], Value] = {}
        self.failures: set[ReadingFailure] = set()
        self.sign_currencies: dict[str, tuple[str, ...]] = {}

    def part(self, start: int, end: int) -> DocumentContext:
        """Make the context of a part of the text, which notes its failures in this one's; itself for all of it."""
        if (start, end) == (0, len(self.text)):
            return self
        part = DocumentContext(self.text[start:end])
        part.failures = self.failures
        return part

    @cached_property
    def language(self) -> str | None:
        """ISO 639 code of the language; None if it cannot be told."""
        return language_of(self.head_and_tail, self._words.values())

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """Countries that the text has signs of (ISO 3166), those with most first."""
        found = Counter(region for region in self._named_regions() for _ in range(_NAMED))
        found.update(region for code in self.currencies if code != "EUR" and (region := _home(code)))
        found.update(region for sign, region in _SIGNS.items() if sign in self.head_and_tail)
        found.update(dict.fromkeys(self._signed_regions(), _NAMED))
        return tuple(region for region, _ in found.most_common())

    @cached_property
    def likely_regions(self) -> tuple[str, ...]:
        """`regions`, then the country that the language is likeliest from."""
        likely = names.main_region(self.language) if self.language else None
        return self.regions if likely is None or likely in self.regions else (*self.regions, likely)

    @cached_property
    def currencies(self) -> frozenset[str]:
        """Codes of currencies (ISO 4217) in the text."""
        return frozenset(_CODE.findall(self.head_and_tail)) & names.currency_codes()

    @cached_property
    def date_order(self) -> str | None:
        """Order of dates in numbers, `dmy`, `mdy` or `ymd`; None if nothing tells.

        The text's other dates tell it first: where one has a day over 12, all have that order. Then the language tells
        it, unless it is English, which has both; then the country.
        """
        by_language = None if self.language in ("en", None) else names.date_order(str(self.language))
        shortest = 4 if by_language == "ymd" else 2
        first = second = False
        for match in _NUMERIC_DATE.finditer(self.text, 0, PAGE_CHARACTERS):
            if len(match[4]) >= shortest:
                first, second = first or int(match[1]) > 12, second or int(match[3]) > 12
        if first != second:
            return "dmy" if first else "mdy"
        if by_language is not None:
            return by_language
        orders = {names.date_order(locale) for region in self.regions[:1] if (locale := names.region_locale(region))}
        if not orders and "€" in self.head_and_tail:
            return "dmy"
        return orders.pop() if orders else None

    @cached_property
    def calendar(self) -> Calendar | None:
        """Calendar that the text may have dates in besides the Gregorian."""
        return next((calendar for calendar, sign in _CALENDARS if sign.search(self.head_and_tail)), None)

    def is_birth(self, written: str) -> bool:
        """True if a date as written stands behind a word for a birth."""
        return any(written in after for after in self._births)

    @cached_property
    def _births(self) -> tuple[str, ...]:
        return tuple(
            self.text[match.end() : match.end() + _AFTER_BIRTH_CHARACTERS]
            for match in _BIRTH.finditer(self.text, 0, PAGE_CHARACTERS)
        )

    @cached_property
    def marks(self) -> NumberMarks:
        """Marks of the numbers in the text."""
        return read_marks(self.text)

    @cached_property
    def grouped_numbers(self) -> frozenset[str]:
        """Numbers of the text with one group of three digits, which no plain space parts, without its mark."""
        return grouped_numbers(self.text)

    @cached_property
    def locales(self) -> tuple[str, ...]:
        """Locales of the text's language, in its likeliest country where CLDR has it so, and of that country."""
        region = next(iter(self.regions), None)
        own = names.region_locale(region) if region else None
        if self.language is None or (own is not None and own.startswith(f"{self.language}_")):
            return (own,) if own else ()
        return (self.language, own) if own else (self.language,)

    @cached_property
    def credit_sign(self) -> int:
        """Sign of an amount marked `CR`: -1 in a bill, 1 in a bank's statement; 0 if nothing tells."""
        bill, bank = (pattern.search(self.head_and_tail) is not None for pattern in (_BILL, _BANK_STATEMENT))
        return bank - bill

    @cached_property
    def head_and_tail(self) -> str:
        """The text's beginning and end in composed form, which are searched for signs."""
        text = self.text
        if len(text) > HEAD_CHARACTERS + TAIL_CHARACTERS:
            text = f"{text[:HEAD_CHARACTERS]}\n{text[-TAIL_CHARACTERS:]}"
        return compose(text).text

    @cached_property
    def _words(self) -> dict[str, str]:
        """Words of `_signs` → their keys (`normalization.key`)."""
        return {word: key(word) for word in dict.fromkeys(WORD.findall(self.head_and_tail))}

    def _signed_regions(self) -> Iterator[str]:
        """Yield countries whose forms of addresses, companies, taxes or prices are in the text."""
        text = self.head_and_tail
        yield from (region for region, sign in _REGION_SIGNS.items() if sign.search(text))
        if any(state in _STATES for state in _STATE_AND_ZIP.findall(text)) or _has_sales_tax(text):
            yield "US"

    def _named_regions(self) -> Iterator[str]:
        text = self.head_and_tail
        for domain in _DOMAIN.findall(text):
            region = _DOMAINS.get(domain, domain.upper())
            if region in _REGIONS:
                yield region
        for area, exchange, digits in _CALLING_CODE.findall(text):
            if area:
                yield _region_of_area(f"{area}{exchange}0100")
                continue
            known = (COUNTRY_CODE_TO_REGION_CODE.get(int(digits[:length])) for length in (1, 2, 3))
            yield from (regions[0] for regions in known if regions)
        for account, number in _NUMBERED_BY_COUNTRY.findall(text):
            if (account or number) in _REGIONS:
                yield account or number
        yield from self._names_of_countries()

    def _names_of_countries(self) -> Iterator[str]:
        """Yield countries whose names stand with a capital, in English or in the text's own language."""
        languages, keys = {"en", self.language or "en"}, self._words
        tables = [names.territories(language) for language in languages]
        begin = set().union(_SHORT_NAMES, *map(_beginnings, languages))
        if begin.isdisjoint(keys.values()):
            return
        for first, second in pairwise([*WORD.findall(self.head_and_tail), ""]):
            bare = keys[first]
            if bare not in begin or first[0].islower():
                continue
            for name in (bare, f"{bare} {keys[second]}") if second else (bare,):
                region = _SHORT_NAMES.get(name) or next((table[name] for table in tables if name in table), None)
                if region is not None:
                    yield region


def _region_of_area(national_number: str) -> str:
    """Find the country of a number behind `+1`, which North America shares."""
    number = PhoneNumber(country_code=1, national_number=int(national_number))
    return region_code_for_number(number) or "US"


def _has_sales_tax(text: str) -> bool:
    return "$" in text and any(name in text for name in ("Sales Tax", "Sales tax", "SALES TAX", "sales tax"))


@cache
def _beginnings(language: str) -> frozenset[str]:
    return frozenset(name.partition(" ")[0] for name in names.territories(language))


def _home(code: str) -> str | None:
    """Find the country that a currency's code is named after: `CAD` → `CA`."""
    return code[:2] if code[:2] in _REGIONS and code in get_territory_currencies(code[:2]) else None


_REGIONS = frozenset(region for regions in COUNTRY_CODE_TO_REGION_CODE.values() for region in regions)
