"""Names of months, weekdays, quarters, currencies, units and powers of ten in the languages read, from CLDR.

Each table is made at its first use, from all languages together: a name keeps all its meanings, by language, and the
document's language chooses (`meaning`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Protocol

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.numbers import get_territory_currencies, list_currencies

from service.text.values.normalization import key

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "ru", "tr", "sv", "da", "nb", "fi", "cs", "ro", "ja", "zh",
             "ko", "ar", "hi", "id", "hr", "sk")  # fmt: skip
_MONTH_LANGUAGES = (*LANGUAGES, "el", "hu", "uk", "vi", "he", "th", "bg", "sl", "et", "lt", "lv", "ca")
"""Languages whose names of months and weekdays are known."""
_VARIANTS = ("en_GB", "de_AT", "ar_LB")
"""Locales whose names of months differ from their language's."""
_NOT_LETTERS = re.compile(r"[\W_]+")

Names = dict[str, dict[str, str]]
"""Name → language → meaning."""


class Speaker(Protocol):
    """An object with a language, which is determined at its first use."""

    @property
    def language(self) -> str | None:
        """ISO 639 code of the language; None if it cannot be told."""


def meaning(names: Names, name: str, speaker: Speaker) -> str | None:
    """Look up a name's meaning in a language, else in English, else in most languages; None if it is unknown."""
    found = names.get(name)
    if not found:
        return None
    meanings = list(found.values())
    if meanings.count(meanings[0]) == len(meanings):
        return meanings[0]
    if speaker.language in found:
        return found[speaker.language]
    return found.get("en") or max(dict.fromkeys(meanings), key=meanings.count)


def meanings(names: Names, name: str, speaker: Speaker) -> tuple[str, ...]:
    """Do as `meaning`, but return two where languages differ and neither the speaker's nor English decides."""
    found = names.get(name, {})
    if len(different := tuple(dict.fromkeys(found.values()))) < 2:
        return different
    if speaker.language in found or "en" in found:
        return (found.get(speaker.language or "en") or found["en"],)
    return tuple(sorted(different, key=lambda meaning: -list(found.values()).count(meaning)))[:2]


@cache
def months() -> Names:
    """Map keys of months' names to `1` to `12`."""
    return _collect(_months())


@cache
def weekdays() -> frozenset[str]:
    """Collect keys of weekdays' names."""
    found = {
        key(word)
        for _, locale in _locales(_MONTH_LANGUAGES)
        for part in locale.days.values()
        for word in part["wide"].values()
    }
    short = {
        key(w.strip("."))
        for _, locale in _locales(_MONTH_LANGUAGES)
        for w in locale.days["format"]["abbreviated"].values()
    }
    parts = {part for word in found for part in word.split("-")}
    return frozenset(found | parts | {word for word in short if len(word) > 1 or not word.isascii()})


@cache
def quarters() -> dict[str, int]:
    """Map names of quarters of a year, as `bare` writes them, to 1 to 4."""
    return {
        bare(name): number
        for _, locale in _locales(LANGUAGES)
        for part in locale.quarters.values()
        for width in ("wide", "abbreviated")
        for number, name in part[width].items()
    }


def bare(name: str) -> str:
    """Reduce a name's key to letters and digits."""
    return _NOT_LETTERS.sub("", key(name))


@cache
def currency_names() -> dict[str, str]:
    """Map keys of full names of today's currencies to ISO 4217."""
    found: dict[str, str] = {}
    for language in LANGUAGES:
        locale = Locale.parse(language)
        for code in currency_codes():
            plurals = locale._data["currency_names_plural"].get(code, {})
            for name in (locale.currencies.get(code, code), *plurals.values()):
                found.setdefault(key(name), code)
    return found


@cache
def currency_codes() -> frozenset[str]:
    """Collect ISO 4217 codes of today's currencies."""
    return frozenset(code for region in get_global("territory_currencies") for code in get_territory_currencies(region))


@cache
def former_currency_codes() -> frozenset[str]:
    """Collect ISO 4217 codes of currencies that are money no longer, and of metals and funds: `DEM`, `XAU`."""
    return frozenset(list_currencies()) - currency_codes()


@cache
def powers() -> Names:
    """Map words for powers of ten, such as `k`, `Mio` and `万`, to their exponents in each language."""
    return _collect([*_powers(), *_POWERS_TOO])


@cache
def units() -> Names:
    """Map keys of units' names and signs to CLDR's name without its type: `kg` → `kilogram`."""
    return _collect(_units())


def main_region(language: str) -> str | None:
    """Look up the country that a language is likeliest from: `pt` → `BR`."""
    likely = get_global("likely_subtags").get(language)
    return likely.rpartition("_")[2] if likely else None


@cache
def date_order(locale_name: str) -> str:
    """Look up a locale's order of dates in numbers: `dmy`, `mdy` or `ymd`."""
    pattern = Locale.parse(locale_name).date_formats["short"].pattern.lower()
    return "".join(dict.fromkeys(letter for letter in pattern if letter in "dmy"))


@cache
def region_locale(region: str) -> str | None:
    """Look up a region's likeliest locale: `AT` → `de_AT`."""
    likely: str = get_global("likely_subtags").get(f"und_{region}", f"en_{region}")
    name = f"{likely.split('_')[0]}_{region}"
    try:
        return str(Locale.parse(name))
    except UnknownLocaleError:
        return None


@cache
def territories(language: str) -> dict[str, str]:
    """Map keys of countries' names in a language to their codes."""
    names = Locale.parse(language).territories
    return {key(name): code for code, name in names.items() if len(code) == 2 and code.isalpha() and len(name) > 3}


def _collect(found: Iterable[tuple[str, str, str]]) -> Names:
    names: Names = {}
    for name, language, what in found:
        names.setdefault(name, {}).setdefault(language, what)
    return names


def _locales(languages: Iterable[str]) -> Iterator[tuple[str, Locale]]:
    for name in (*languages, *_VARIANTS):
        yield name[:2], Locale.parse(name)


def _months() -> Iterator[tuple[str, str, str]]:
    for language, locale in _locales(_MONTH_LANGUAGES):
        for width in ("wide", "abbreviated"):
            for part in locale.months.values():
                for number, name in part[width].items():
                    for each in {name.strip(".॰"), name.strip(".")}:
                        yield key(each), language, str(number)
    for language, written in _MONTHS_TOO.items():
        for name in written.split():
            month, _, number = name.partition("=")
            yield key(month), language, number


_MONTHS_TOO = {
    "de": "mrz=3 maerz=3 jän=1 feber=2 sept=9",
    "fr": "fev=2 fév=2 juill=7 jui=6 sep=9",
    "es": "setiembre=9 set=9 sept=9",
    "it": "sett=9 genn=1 febbr=2",
    "nl": "mrt=3 sept=9",
    "tr": "agu=8",
    "id": "pebruari=2 agt=8 agust=8 agus=8 ags=8 nopember=11 nop=11",
    "ro": "noe=11",
    "pl": "wrz=9 paź=10",
    "cs": "čvc=7 čvn=6",
    "hu": "okt=10 szept=9",
    "el": "μαϊ=5",
    "lv": "martā=3 maijā=5",
}
"""Abbreviations in use that CLDR lacks, by language: SAP and Excel write `Mrz`."""


def _powers() -> Iterator[tuple[str, str, str]]:
    for language in LANGUAGES:
        for formats in Locale.parse(language).compact_decimal_formats.values():
            for by_size in formats.values():
                for size, pattern in by_size.items():
                    word = pattern.pattern.replace("'", "").strip("0 \u00a0\u200f").strip(".")
                    zeros = pattern.pattern.count("0")
                    if word and zeros and not set(word) & set("0;¤"):
                        yield key(word), language, str(len(size) - zeros)


_POWERS_TOO = (
    *(("bn", "en", "9"), ("mm", "en", "6"), ("lakh", "en", "5"), ("lakhs", "en", "5"), ("lac", "en", "5")),
    *(("lacs", "en", "5"), ("crore", "en", "7"), ("crores", "en", "7")),
)
"""Powers of ten that CLDR lacks or calls otherwise."""


def _units() -> Iterator[tuple[str, str, str]]:
    for language in LANGUAGES:
        for unit, widths in Locale.parse(language)._data["unit_patterns"].items():
            kind, _, name = unit.partition("-")
            if kind in _UNIT_TYPES and name not in _RARE_UNITS and not name.endswith("bit"):
                for width in ("long", "short"):
                    for form, pattern in widths.get(width, {}).items():
                        word = key(pattern.replace("{0}", "").strip(" \u00a0\u200f."))
                        if form != "per" and word and isinstance(pattern, str):
                            yield word, language, name
    for name, words in _COUNTED.items():
        for word in words.split():
            yield key(word), "en", name


_UNIT_TYPES = frozenset(
    "area digital duration electric energy frequency length mass power pressure speed temperature volume".split()
)
_RARE_UNITS = frozenset({"megaliter", "milliwatt"})
"""Units whose signs, without case, are those of others."""
_COUNTED = {
    "piece": "piece pieces pc pcs ea each unit units stück stk st pièce pièces unité unités u. ud uds unidad unidades"
    " pezzo pezzi pz stuk stuks peça peças szt sztuk шт adet styck kpl ks buc 個 本 枚 件 个 只 개 قطعة",
    "box": "box boxes karton kartons carton cartons doos",
    "package": "pack packs package packages packung paket pakete paquet paquets paquete",
}
"""Units of counted things, which CLDR lacks."""
