"""Locales whose word lists in Faker are real, and the phrases of their languages.

Faker falls back to US English without a word where a locale lacks a module; so a locale is listed here only when its
person and address modules exist.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from faker import Faker


@dataclass(frozen=True, slots=True)
class Locale:
    """Where a document comes from. `faker`: Faker's and babel's locale name; `language`: a file in phrases/."""

    faker: str
    language: str
    country: str
    currency: str
    weight: float = 1.0


LOCALES: Final = (
    Locale("en_US", "en", "US", "USD", 5.0),
    Locale("en_GB", "en", "GB", "GBP", 3.0),
    Locale("en_IN", "en", "IN", "INR", 1.0),
    Locale("de_DE", "de", "DE", "EUR", 5.0),
    Locale("de_AT", "de", "AT", "EUR", 0.7),
    Locale("de_CH", "de", "CH", "CHF", 0.7),
    Locale("fr_FR", "fr", "FR", "EUR", 3.0),
    Locale("es_ES", "es", "ES", "EUR", 2.0),
    Locale("es_MX", "es", "MX", "MXN", 0.5),
    Locale("it_IT", "it", "IT", "EUR", 2.0),
    Locale("nl_NL", "nl", "NL", "EUR", 1.6),
    Locale("nl_BE", "nl", "BE", "EUR", 0.4),
    Locale("pt_PT", "pt", "PT", "EUR", 1.0),
    Locale("pt_BR", "pt", "BR", "BRL", 1.0),
)
ELSEWHERE: Final = (
    Locale("pl_PL", "en", "PL", "PLN"),
    Locale("da_DK", "en", "DK", "DKK"),
    Locale("sv_SE", "en", "SE", "SEK"),
    Locale("no_NO", "en", "NO", "NOK"),
    Locale("fi_FI", "en", "FI", "EUR"),
    Locale("cs_CZ", "en", "CZ", "CZK"),
    Locale("ro_RO", "en", "RO", "RON"),
    Locale("hr_HR", "en", "HR", "EUR"),
    Locale("id_ID", "en", "ID", "IDR"),
)


def choose_locale(rng: Random) -> Locale:
    """The document's own locale."""
    return rng.choices(LOCALES, [locale.weight for locale in LOCALES])[0]


def neighbour(rng: Random, locale: Locale) -> Locale:
    """Where the other party lives: mostly at home, at times abroad."""
    return locale if rng.random() < 0.8 else rng.choice((*LOCALES, *ELSEWHERE))


@cache
def phrases(language: str) -> dict[str, Any]:
    """The language's word lists, by section and key."""
    return tomllib.loads((Path(__file__).parent / "phrases" / f"{language}.toml").read_text(encoding="utf-8"))


def say(rng: Random, locale: Locale, section: str, key: str) -> str:
    """One of the locale's phrases."""
    return str(rng.choice(phrases(locale.language)[section][key]))


def faker_for(rng: Random, locale: Locale) -> Faker:
    """Faker's generator for the locale, drawing from `rng`."""
    fake = _faker(locale.faker)
    fake.random = rng
    return fake


_WORDS: Final = {"en": "en_US", "de": "de_DE", "fr": "fr_FR", "es": "es_ES", "it": "it_IT", "nl": "nl_NL", "pt": "la"}


def random_words(rng: Random, locale: Locale, count: int) -> list[str]:
    """Words of the language without meaning together."""
    fake = _faker(_WORDS[locale.language])
    fake.random = rng
    return [str(word) for word in fake.words(count)]


@cache
def _faker(name: str) -> Faker:
    return Faker(name)
