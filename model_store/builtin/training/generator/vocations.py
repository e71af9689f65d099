"""Qualifications: skills, schools, degrees and languages, as plain strings."""

from random import Random

from babel import Locale as BabelLocale

from model_store.builtin.training.generator import people, places
from model_store.builtin.training.generator.locales import Locale, faker_for, phrases, say


def skill(rng: Random, locale: Locale) -> str:
    """A tool or an ability."""
    return rng.choice(phrases("common")["tools"]) if rng.random() < 0.6 else say(rng, locale, "resume", "skills_list")


def school(rng: Random, locale: Locale) -> str:
    """A school's name in the locale's language."""
    fake = faker_for(rng, locale)
    if rng.random() < 0.1:
        letters = people.acronym(rng)
        return rng.choice(
            (
                letters,
                f"{letters} {places.home_city(rng, locale)}",
                f"{letters} ({places.home_city(rng, locale)} University)",
            )
        )
    template = say(rng, locale, "resume", "schools")
    return template.format(city=places.home_city(rng, locale), last=fake.last_name(), first=fake.first_name())


def degree(rng: Random, locale: Locale) -> str:
    """A degree, with its field or without."""
    title = say(rng, locale, "resume", "degrees")
    if rng.random() < 0.3:
        return title
    return (
        title
        + str(rng.choice(phrases(locale.language)["resume"]["degree_joins"]))
        + say(rng, locale, "resume", "fields")
    )


def language_name(rng: Random, locale: Locale) -> str:
    """A language's name in the locale's language."""
    name = str(BabelLocale.parse(locale.faker).languages[rng.choice(phrases("common")["languages"])])
    return name.capitalize() if rng.random() < 0.7 else name
