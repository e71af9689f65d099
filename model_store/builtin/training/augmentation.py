"""Augments real documents: keeps their layout and replaces names, places, numbers and dates.

Whole entities are replaced; text outside of entities stays. Pure functions of a `Random`.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from random import Random
from typing import Final

from model_store.builtin.training.examples import Example
from model_store.builtin.training.generator import identifiers, people, places, vocations
from model_store.builtin.training.generator.locales import LOCALES, Locale
from model_store.builtin.training.labels import Span

_SCRAMBLED: Final = frozenset(
    {
        "NET_AMOUNT",
        "TAX_AMOUNT",
        "TOTAL_AMOUNT",
        "MONEY",
        "INVOICE_ID",
        "PURCHASE_ORDER",
        "ID_NUMBER",
        "PHONE",
        "TAX_ID",
    }
)
_DATE: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")
_MAKERS: Final[dict[str, Callable[[Random, Locale], str]]] = {
    "SUPPLIER_NAME": people.company,
    "RECEIVER_NAME": people.company,
    "ORGANIZATION": people.company,
    "EMPLOYER": people.company,
    "PERSON": people.person,
    "SCHOOL": vocations.school,
    "JOB_TITLE": people.job_title,
    "LOCATION": places.city,
    "IBAN": identifiers.iban,
    "BIC": identifiers.bic,
}


def variants(rng: Random, examples: Iterable[Example], *, copies: int, language: str | None = None) -> list[Example]:
    """Each example and `copies` variants of it, with values of the language's locales."""
    homes = [locale for locale in LOCALES if language in {None, locale.language}]
    return [
        variant
        for example in examples
        for variant in (example, *(with_other_values(rng, example, rng.choice(homes)) for _ in range(copies)))
    ]


def with_other_values(rng: Random, example: Example, locale: Locale) -> Example:
    """The example with most of its entities replaced; equal texts get equal replacements."""
    replaced: dict[tuple[str | None, str], str] = {}
    parts: list[str] = []
    spans: list[Span] = []
    position = length = 0
    for span in example.spans:
        before, old = example.text[position : span.start], example.text[span.start : span.end]
        key = (span.label, old)
        if key not in replaced:
            replaced[key] = _replacement(rng, span.label, old, locale) if rng.random() < 0.75 else old
        start = length + len(before)
        length = start + len(replaced[key])
        parts += [before, replaced[key]]
        spans.append(Span(start, length, span.label))
        position = span.end
    text = "".join((*parts, example.text[position:]))
    return Example(text, tuple(spans), example.source, example.group, example.annotated, example.settled)


def _replacement(rng: Random, label: str | None, old: str, locale: Locale) -> str:
    if label in _SCRAMBLED:
        return re.sub(r"\d", lambda _: rng.choice("0123456789"), old)
    if label in {"INVOICE_DATE", "DUE_DATE", "DATE"}:
        return _DATE.sub(lambda match: _other_date(rng, match), old)
    if label == "ADDRESS":
        lines = places.address_lines(rng, locale)
        made = ("\n" if "\n" in old else ", ").join(lines) if len(old) > 15 else lines[0]
    elif label in _MAKERS:
        made = _MAKERS[label](rng, locale)
    else:
        return old
    return made.upper() if old.isupper() else made


def _other_date(rng: Random, match: re.Match[str]) -> str:
    """Another day in the same shape; a four-digit year stays within a quarter of a century."""
    day = date(2000, 1, 1) + timedelta(days=rng.randrange(9500))
    first, second = (day.month, day.day) if int(match[3]) > 12 else (day.day, day.month)
    width = len(match[1])
    year = str(day.year)[-len(match[4]) :]
    return f"{first:0{width}}{match[2]}{second:0{len(match[3])}}{match[2]}{year}"
