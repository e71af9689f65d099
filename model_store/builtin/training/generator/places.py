"""Places: cities, countries, addresses as one to four lines."""

from functools import cache
from random import Random

from babel import Locale as BabelLocale
from faker.providers.address.it_IT import Provider as ItalianAddresses

from model_store.builtin.training.generator.locales import Locale, faker_for, phrases


def city(rng: Random, locale: Locale) -> str:
    """A city of the locale, or a well-known one."""
    if locale.language == "en" and rng.random() < 0.6:
        return _well_known(rng)
    return _town(rng, locale) if rng.random() < 0.85 else _well_known(rng).split(",")[0]


def home_city(rng: Random, locale: Locale) -> str:
    """A city as it stands in names of schools and courts: without state."""
    return city(rng, locale).split(",")[0]


def country(rng: Random, locale: Locale) -> str:
    """A country's name in the locale's language."""
    return _country_names(locale.faker)[rng.choice(phrases("common")["countries"])]


def home_country(locale: Locale, *, language_of: Locale) -> str:
    """The locale's own country in another's language."""
    return _country_names(language_of.faker)[locale.country]


def address_lines(rng: Random, locale: Locale) -> list[str]:
    """Street, then postcode and city, at times with a suite or a box."""
    fake = faker_for(rng, locale)
    street = " ".join(fake.street_address().split("\n"))
    if rng.random() < 0.08:
        street = f"{_box(locale)} {rng.randint(10, 99999)}"
    lines = [street]
    if rng.random() < 0.08 and locale.language == "en":
        lines.append(
            rng.choice((f"Suite {rng.randint(1, 900)}", f"Floor {rng.randint(1, 30)}", f"Unit {rng.randint(1, 60)}"))
        )
    lines.append(_city_line(rng, locale))
    return lines


def one_line_address(rng: Random, locale: Locale) -> str:
    """The address on a line, as in a sentence or a letter head."""
    separator = rng.choice((", ", ", ", " - ", " · ")) if rng.random() < 0.4 else ", "
    return separator.join(address_lines(rng, locale))


def _city_line(rng: Random, locale: Locale) -> str:
    fake = faker_for(rng, locale)
    code, town = fake.postcode(), _town(rng, locale)
    match locale.country:
        case "US":
            state = fake.state_abbr()
            return rng.choice((f"{town}, {state} {code}", f"{town} {state} {code}", f"{town}, {state}, {code}"))
        case "GB" | "IN":
            return rng.choice((f"{town} {code}", f"{town}, {code}", f"{town}\n{code}"))
        case "BR" | "MX":
            return rng.choice((f"{code} {town}", f"{town} - {code}"))
        case "DE" | "AT" | "CH" | "FR":
            prefix = rng.choice(
                ("", "", "", "", f"{locale.country[0]}-" if locale.country != "CH" else "CH-", f"{locale.country} ")
            )
            return f"{prefix}{code} {town}"
    return f"{code} {town}"


def _well_known(rng: Random) -> str:
    return str(rng.choice(phrases("common")["cities"]))


def _town(rng: Random, locale: Locale) -> str:
    """A city by Faker; its Italian cities are a set, whose order changes from run to run, so they are sorted first."""
    return rng.choice(_italian_cities()) if locale.faker == "it_IT" else str(faker_for(rng, locale).city())


@cache
def _italian_cities() -> tuple[str, ...]:
    return tuple(sorted(set(ItalianAddresses.cities)))


def _box(locale: Locale) -> str:
    return {"de": "Postfach", "fr": "BP", "es": "Apartado", "it": "C.P.", "nl": "Postbus", "pt": "Apartado"}.get(
        locale.language, "P.O. Box"
    )


@cache
def _country_names(babel_locale: str) -> dict[str, str]:
    territories = BabelLocale.parse(babel_locale).territories
    return {code: str(territories[code]) for code in {*phrases("common")["countries"], "MX", "IN", "ID", "HR"}}
