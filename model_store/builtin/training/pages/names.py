"""People, companies, addresses and contacts of a lexicon's country."""

import re
import unicodedata
from functools import cache
from random import Random
from typing import Final

from faker import Faker

from model_store.builtin.training.pages.identifiers import digits, letters
from model_store.builtin.training.pages.lexicon import Lexicon

_POOL: Final = 300
_SURNAME_FIRST: Final = frozenset({"ja", "zh", "ko"})
_HOSTS: Final = ("gmail.com", "outlook.com", "yahoo.com", "example.org", "web.de", "mail.ru", "163.com", "naver.com")

_SYLLABLES: Final = (
    "al bor cor dan el fen gal hex in jur kal lum mer nov or pex qua ren sol tek ul ven wex xan yor zen ta ro mi via "
    "tra con so li"
).split()


@cache
def _pool(locale: str, gender: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(first names, surnames) that go together."""
    fake = Faker(locale)
    fake.seed_instance(4711)
    first, last = getattr(fake, f"first_name_{gender}"), getattr(fake, f"last_name_{gender}")
    return tuple(first() for _ in range(_POOL)), tuple(last() for _ in range(_POOL))


def first_and_last(rng: Random, lexicon: Lexicon) -> tuple[str, str]:
    """A first name and a surname that goes with it."""
    first, last = _pool(lexicon.locale.faker, rng.choice(("male", "female")))
    return rng.choice(first), rng.choice(last)


def full_name(rng: Random, lexicon: Lexicon) -> str:
    """A person's name as the language writes it."""
    first, last = first_and_last(rng, lexicon)
    if lexicon.language in _SURNAME_FIRST:
        return f"{last}{' ' if lexicon.language == 'ja' and rng.random() < 0.5 else ''}{first}"
    chance = rng.random()
    if chance < 0.05 and not lexicon.is_rtl and lexicon.language != "hi":
        return f"{first} {rng.choice('ABCDEFGHJKLMNPRSTW')}. {last}" if lexicon.language != "ru" else f"{last} {first}"
    return f"{first} {last}"


def surname(rng: Random, lexicon: Lexicon) -> str:
    return first_and_last(rng, lexicon)[1]


def company(rng: Random, lexicon: Lexicon) -> str:
    """A company's name by one of the language's templates."""
    return lexicon.say(rng, "company").format(
        last=_pool(lexicon.locale.faker, "male")[1][rng.randrange(_POOL)],
        other=_pool(lexicon.locale.faker, "male")[1][rng.randrange(_POOL)],
        head=lexicon.say(rng, "heads"),
        trade=lexicon.say(rng, "trades"),
        brand=invented(rng),
        abc=acronym(rng),
        city=lexicon.say(rng, "cities"),
    )


def school(rng: Random, lexicon: Lexicon) -> str:
    """A school's or a university's name."""
    return lexicon.say(rng, "schools").format(
        city=lexicon.say(rng, "cities"),
        last=surname(rng, lexicon),
        first=first_and_last(rng, lexicon)[0],
    )


def address(rng: Random, lexicon: Lexicon) -> tuple[str, ...]:
    """The lines of an address."""
    text = lexicon.say(rng, "addresses").format(
        street=lexicon.say(rng, "streets"),
        no=rng.choice((rng.randint(1, 60), rng.randint(1, 250), f"{rng.randint(1, 90)}{rng.choice('abc')}")),
        n=rng.randint(1, 30),
        m=rng.randint(1, 20),
        city=lexicon.say(rng, "cities"),
    )
    return tuple(numbered(rng, text).split("\n"))


def phone(rng: Random, lexicon: Lexicon) -> str:
    """A telephone number as it is written in the country."""
    return numbered(rng, lexicon.say(rng, "phones"))


def email(rng: Random, person: str, organization: str) -> str:
    """An address that fits the person and the organization, in Latin letters."""
    words = [slug(word) for word in person.split() if slug(word)] or [invented(rng).lower()]
    host = domain(rng, organization) if rng.random() < 0.75 else rng.choice(_HOSTS)
    local = rng.choice((".".join(words[:2]), "".join(words[:2]), words[0], "info", "office", "billing", "sales"))
    return f"{local}@{host}"


def domain(rng: Random, organization: str) -> str:
    """A host name made of the organization's first words."""
    words = [slug(word) for word in organization.split() if len(slug(word)) > 1] or [invented(rng).lower()]
    ending = rng.choice(("com", "com", "net", "org", "eu", "co", "io", "info", "example"))
    return f"{rng.choice(('-', '')).join(words[:2])}.{ending}"


def url(rng: Random, organization: str) -> str:
    return rng.choice(("www.", "www.", "https://", "https://www.", "http://")) + domain(rng, organization)


def numbered(rng: Random, template: str) -> str:
    """The template with # as any digit, % as one but nought, and @ as a capital."""
    return re.sub(
        "[#%@]",
        lambda match: {"#": rng.choice("0123456789"), "%": rng.choice("123456789"), "@": letters(rng, 1)}[match[0]],
        template,
    )


def number_of(rng: Random) -> str:
    """A customer's, an employee's or a member's number."""
    return rng.choice(
        (
            digits(rng, rng.randint(4, 9)),
            f"{letters(rng, 2)}-{digits(rng, 5)}",
            f"{letters(rng, 1)}{digits(rng, 6)}",
            f"{digits(rng, 3)}-{digits(rng, 4)}",
            f"{digits(rng, 2)}.{digits(rng, 3)}.{digits(rng, 3)}",
        )
    )


def invented(rng: Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=rng.choice((2, 2, 3)))).capitalize()


def acronym(rng: Random) -> str:
    return "".join(rng.choices("ABCDEFGHIKLMNOPRSTUVWXZ", k=rng.randint(2, 4)))


def slug(text: str) -> str:
    """Lower-case ASCII letters and digits of the text."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", plain)
