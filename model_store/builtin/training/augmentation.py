"""Variants of real documents: the layout stays, names, places, numbers and dates are replaced.

Whole entities are replaced; text outside of entities stays. On a page, new characters share the boxes of the old ones.
Pure functions of a `Random`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Final

import numpy as np

from model_store.builtin.training.pages import identifiers, names
from model_store.builtin.training.pages.lexicon import Lexicon, lexicons
from model_store.builtin.training.pages.reading import placed_text
from service.documents.document import Document
from service.evaluation.labelled_documents import LabelledDocument, LabelledSpan

REPLACED_SHARE: Final = 0.75
"""Share of the entities that are replaced."""
_LANGUAGES: Final = ("en", "de", "fr", "es", "it", "nl", "pt")
"""Languages whose values fit the layout of the sets that have variants."""
_LONG_ADDRESS_CHARACTERS: Final = 15
"""Length above which an address is replaced by a whole one, and otherwise by a street."""
_SCRAMBLED: Final = frozenset(
    {
        *("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT", "MONEY", "INVOICE_ID", "PURCHASE_ORDER", "ID_NUMBER", "PHONE"),
        "TAX_ID",
    }
)
"""Labels of which only the digits are drawn anew."""
_DATE: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")
_MAKERS: Final[dict[str, Callable[[Random, Lexicon], str]]] = {
    **dict.fromkeys(("SUPPLIER_NAME", "RECEIVER_NAME", "ORGANIZATION", "EMPLOYER"), names.company),
    "PERSON": names.full_name,
    "SCHOOL": names.school,
    "JOB_TITLE": lambda rng, lexicon: lexicon.say(rng, "jobs"),
    "LOCATION": lambda rng, lexicon: lexicon.say(rng, "cities"),
    "IBAN": lambda rng, lexicon: identifiers.iban(rng, lexicon.locale.country),
    "BIC": lambda rng, lexicon: identifiers.bic(rng, lexicon.locale.country),
}


def variants(
    rng: Random, documents: Iterable[LabelledDocument], *, copies: int, language: str | None = None
) -> list[LabelledDocument]:
    """Each document and `copies` variants of it, with values of the language's countries."""
    homes = [lexicon for each in _LANGUAGES if language in {None, each} for lexicon in lexicons(each)]
    return [
        variant
        for document in documents
        for variant in (document, *(with_other_values(rng, document, rng.choice(homes)) for _ in range(copies)))
    ]


def with_other_values(rng: Random, document: LabelledDocument, lexicon: Lexicon) -> LabelledDocument:
    """The document with most of its entities replaced; equal texts get equal replacements."""
    replaced: dict[tuple[str, str], str] = {}
    parts: list[str] = []
    spans: list[LabelledSpan] = []
    origins: list[int] = []
    position = length = 0
    for span in document.spans:
        before, old = document.text[position : span.start], document.text[span.start : span.end]
        key = (span.label, old)
        if key not in replaced:
            is_kept = rng.random() >= REPLACED_SHARE
            replaced[key] = old if is_kept else _replacement(rng, span.label, old, lexicon)
        start = length + len(before)
        length = start + len(replaced[key])
        parts += [before, replaced[key]]
        origins += range(position, span.start)
        origins += _shared(span.start, span.end, len(replaced[key]))
        spans.append(LabelledSpan(start, length, span.label))
        position = span.end
    text = "".join((*parts, document.text[position:]))
    origins += range(position, len(document.text))
    boxed = document.placed and _moved(document.placed, text, origins)
    return replace(document, text=text, spans=tuple(spans), unmapped=(), placed=boxed)


def _shared(start: int, end: int, count: int) -> Iterator[int]:
    """Yield, for each of `count` new characters, the old one whose box it gets."""
    return (start + place * (end - start) // count for place in range(count))


def _moved(page: Document, text: str, origins: Sequence[int]) -> Document:
    """Make a page of another text, each of whose characters has the box of one before."""
    assert page.pages is not None, "pages have a size"
    assert page.layout is not None, "pages have boxes"
    boxes = page.layout.boxes[list(origins)]
    boxes[[each.isspace() for each in text]] = np.nan
    return placed_text(text, boxes, page.pages[0].width, page.pages[0].height)


def _replacement(rng: Random, label: str, old: str, lexicon: Lexicon) -> str:
    if label in _SCRAMBLED:
        return re.sub(r"\d", lambda _: rng.choice("0123456789"), old)
    if label in {"INVOICE_DATE", "DUE_DATE", "DATE"}:
        return _DATE.sub(lambda match: _other_date(rng, match), old)
    if label == "ADDRESS":
        lines = names.address(rng, lexicon)
        made = ("\n" if "\n" in old else ", ").join(lines) if len(old) > _LONG_ADDRESS_CHARACTERS else lines[0]
    elif label in _MAKERS:
        made = _MAKERS[label](rng, lexicon)
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
