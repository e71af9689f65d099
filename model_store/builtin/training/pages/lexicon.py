"""The words of a language: field labels, sentences, lists of names and templates; one JSON file each."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from babel import Locale as BabelLocale

LANGUAGES: Final = {
    **dict.fromkeys(("en", "de"), 4.0),
    **dict.fromkeys(("fr",), 3.0),
    **dict.fromkeys(("es", "it", "nl", "pt"), 2.0),
    **dict.fromkeys(("ja", "zh", "ko", "ar", "hi", "pl", "ru", "tr", "sv"), 1.5),
    **dict.fromkeys(("da", "fi", "cs", "ro"), 1.0),
}
"""Language → its share among the documents."""


@dataclass(frozen=True, slots=True)
class Locale:
    """The country and language of a document. `faker`: Faker's and babel's name of the locale."""

    faker: str
    country: str
    currency: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language, and one of its countries."""

    language: str
    locale: Locale
    words: dict[str, list[str]]
    decimal_mark: str
    group_mark: str
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    countries: dict[str, str]
    languages: dict[str, str]

    def say(self, rng: Random, key: str) -> str:
        return rng.choice(self.words[key])

    @property
    def is_rtl(self) -> bool:
        """True for a language written from right to left."""
        return self.language == "ar"

    @property
    def is_dense(self) -> bool:
        """True for a language without spaces between words."""
        return self.language in {"ja", "zh"}


def choose_lexicon(rng: Random) -> Lexicon:
    """A language by its share, and one of its countries."""
    language = rng.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
    return rng.choice(lexicons(language))


@cache
def lexicons(language: str) -> tuple[Lexicon, ...]:
    """The language in each of its countries."""
    words: dict[str, list[str]] = json.loads(
        (Path(__file__).parent / "lexicons" / f"{language}.json").read_text(encoding="utf-8")
    )
    return tuple(_in_country(language, *line.split(), words=words) for line in words["locales"])


def _in_country(language: str, name: str, country: str, currency: str, *, words: dict[str, list[str]]) -> Lexicon:
    babel = BabelLocale.parse(name.replace("AA", "SA"))
    months = babel.months["format"]
    return Lexicon(
        language=language,
        locale=Locale(name, country, currency),
        words=words,
        decimal_mark=babel.number_symbols["latn"]["decimal"],
        group_mark=babel.number_symbols["latn"]["group"].replace("\u202f", " ").replace("\xa0", " "),
        months=tuple(months["wide"][n] for n in range(1, 13)),
        short_months=tuple(months["abbreviated"][n] for n in range(1, 13)),
        countries={code: str(babel.territories[code]) for code in words["countries"]},
        languages={code: str(babel.languages[code]) for code in words["tongues"]},
    )
