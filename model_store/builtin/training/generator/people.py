"""People, companies, schools, job titles, contacts: names as plain strings, drawn from a `Random`."""

import re
import unicodedata
from random import Random
from typing import Final

from model_store.builtin.training.generator.locales import Locale, faker_for, say

_SYLLABLES: Final = (
    *(
        "al",
        "bor",
        "cor",
        "dan",
        "el",
        "fen",
        "gal",
        "hex",
        "in",
        "jur",
        "kal",
        "lum",
        "mer",
        "nov",
        "or",
        "pex",
        "qua",
    ),
    *("ren", "sol", "tek", "ul", "ven", "wex", "xan", "yor", "zen", "ta", "ro", "mi", "via", "tra", "con", "so", "li"),
)
_OWN_JOBS: Final = frozenset({"en_US", "de_AT", "fr_FR", "es_ES", "es_MX", "pt_BR", "pt_PT"})
_TITLES: Final = {
    "en": ("Mr.", "Mrs.", "Ms.", "Dr.", "Mr", "Ms", "Prof."),
    "de": ("Herr", "Frau", "Herrn", "Dr.", "Prof. Dr."),
    "fr": ("M.", "Mme", "Monsieur", "Madame", "Me"),
    "es": ("Sr.", "Sra.", "D.", "Dña.", "Don"),
    "it": ("Sig.", "Sig.ra", "Dott.", "Ing.", "Avv."),
    "nl": ("Dhr.", "Mevr.", "de heer", "mevrouw", "Drs."),
    "pt": ("Sr.", "Sra.", "Dr.", "Eng.", "Dra."),
}
_PHONES: Final = {
    "US": ("({3}) {3}-{4}", "+1 {3} {3} {4}", "{3}-{3}-{4}", "{3}.{3}.{4}", "1-{3}-{3}-{4}"),
    "GB": ("020 {4} {4}", "+44 20 {4} {4}", "07{3} {6}", "01{3} {6}", "+44 (0)1{3} {6}"),
    "IN": ("+91 {5} {5}", "+91-{10}", "9{9}"),
    "DE": (
        "+49 {3} {7}",
        "0{3} / {6}",
        "0{3}/{3} {2}-{2}",
        "+49 (0) {2} {4}-{2}",
        "0{4} {5}",
        "+49{10}",
        "+49 {3} {3} {3}",
    ),
    "AT": ("+43 {1} {3} {2} {2}", "0{3} {6}"),
    "CH": ("+41 {2} {3} {2} {2}", "0{2} {3} {2} {2}"),
    "FR": ("0{1} {2} {2} {2} {2}", "+33 {1} {2} {2} {2} {2}", "0{1}.{2}.{2}.{2}.{2}"),
    "ES": ("+34 {3} {2} {2} {2}", "{3} {3} {3}", "9{1} {3} {2} {2}"),
    "IT": ("+39 0{2} {7}", "0{2} {6}", "+39 3{2} {7}", "0{2}/{7}"),
    "NL": ("+31 {2} {3} {4}", "0{2}-{7}", "06-{8}", "+31 (0){2} {7}"),
    "PT": ("+351 {3} {3} {3}", "2{2} {3} {3}", "9{2} {3} {3}"),
    "BR": ("({2}) {4}-{4}", "+55 {2} 9{4}-{4}"),
}
_PHONE_ANYWHERE: Final = ("+{2} {3} {3} {3}", "(+{2}) {2}-{4}-{4}", "+{2}-{3}-{6}", "0{2}-{7}")


def person(rng: Random, locale: Locale) -> str:
    """A full name, at times with a middle initial or the surname first."""
    fake = faker_for(rng, locale)
    first, last = fake.first_name(), fake.last_name()
    kind = rng.random()
    if kind < 0.08:
        return f"{first} {rng.choice('ABCDEFGHJKLMNPRSTW')}. {last}"
    if kind < 0.12:
        return f"{first[0]}. {last}"
    if kind < 0.17:
        return f"{first} {fake.first_name()} {last}"
    if kind < 0.21:
        return f"{last}, {first}"
    if kind < 0.25 and locale.language != "de":
        return f"{first} {last}-{fake.last_name()}"
    return f"{first} {last}"


def courtesy(rng: Random, locale: Locale) -> str:
    """A form of address that stands before a name and is not part of it."""
    return rng.choice(_TITLES[locale.language])


def company(rng: Random, locale: Locale) -> str:
    """A company's name: family names, invented words, trades, acronyms; mostly with a legal form."""
    suffix = say(rng, locale, "company", "suffixes")
    stem = _company_stem(rng, locale)
    name = stem + suffix if suffix.startswith(",") else f"{stem} {suffix}"
    return stem if rng.random() < 0.22 and " " in stem else name


def _company_stem(rng: Random, locale: Locale) -> str:
    trade, head = say(rng, locale, "company", "trades"), say(rng, locale, "company", "heads")
    last = faker_for(rng, locale).last_name()
    return rng.choice(
        (
            f"{last} {trade}",
            f"{head} {trade}",
            f"{invented(rng)} {trade}",
            invented(rng),
            f"{last} & {faker_for(rng, locale).last_name()}",
            last,
            f"{acronym(rng)} {trade}",
            f"{trade} {last}",
            f"{head} {invented(rng)}",
            acronym(rng),
            f"{last} {trade} {rng.randint(1, 99)}",
            f"{rng.choice('ABCDEKMTXZ')}-{invented(rng)}",
            f"{invented(rng)}{rng.choice(('.com', '24', 'Tec', 'Soft', ' Pay', 'Lab'))}",
        )
    )


def invented(rng: Random) -> str:
    """A made-up brand word."""
    return "".join(rng.choices(_SYLLABLES, k=rng.choice((2, 2, 3)))).capitalize()


def acronym(rng: Random) -> str:
    """Two to four capitals."""
    return "".join(rng.choices("ABCDEFGHIKLMNOPRSTUVWXZ", k=rng.randint(2, 4)))


def job_title(rng: Random, locale: Locale) -> str:
    """A job title in the locale's language."""
    title = say(rng, locale, "resume", "jobs")
    if rng.random() < 0.35 and locale.faker in _OWN_JOBS:
        return str(faker_for(rng, locale).job()).split(" / ")[0]
    if rng.random() < 0.08:
        return f"{title}{rng.choice((' & ', ' and ', ' / '))}{say(rng, locale, 'resume', 'jobs')}"
    if rng.random() < 0.25:
        return f"{say(rng, locale, 'resume', 'seniority')} {title}"
    return title


def email(rng: Random, *owners: str) -> str:
    """An address that fits the owners: a person, a company, or both."""
    local = rng.choice(("info", "office", "billing", "accounts", "contact", "sales")) if len(owners) < 2 else None
    words = [slug(part) for part in owners[0].split() if slug(part)]
    name = local if local and rng.random() < 0.5 else rng.choice((".", "_", "")).join(words[:2])
    host = domain(rng, owners[-1]) if len(owners) > 1 or local == name else rng.choice(_MAIL_HOSTS)
    digits = str(rng.randint(1, 99)) if rng.random() < 0.15 else ""
    return f"{name or 'mail'}{digits}@{host}"


_MAIL_HOSTS: Final = (
    "gmail.com",
    "hotmail.com",
    "web.de",
    "orange.fr",
    "example.com",
    "outlook.com",
    "yahoo.com",
    "gmx.net",
)


def domain(rng: Random, owner: str) -> str:
    """A host name made of the owner's first words."""
    words = [slug(part) for part in owner.split()]
    stem = rng.choice(("-", "")).join(word for word in words[:2] if word) or "example"
    ending = rng.choice(
        ("com", "com", "de", "fr", "es", "it", "nl", "eu", "net", "io", "co.uk", "example", "org", "pt")
    )
    return f"{stem}.{ending}"


def url(rng: Random, owner: str) -> str:
    """A web address."""
    return rng.choice(("www.", "http://www.", "https://", "https://www.", "www.")) + domain(rng, owner)


def phone(rng: Random, locale: Locale) -> str:
    """A telephone number as it is written in the country."""
    styles = _PHONES.get(locale.country, _PHONE_ANYWHERE)
    template = rng.choice(styles if rng.random() < 0.85 else _PHONE_ANYWHERE)
    return re.sub(r"\{(\d+)\}", lambda match: _digits(rng, int(match[1])), template)


def _digits(rng: Random, count: int) -> str:
    return str(rng.randint(1, 9)) + "".join(rng.choices("0123456789", k=count - 1))


def slug(text: str) -> str:
    """Lower-case ASCII letters and digits of the text."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", plain)
