"""Where an entity begins and ends, made one convention for the truth and for what was found.

The rules:
- Neighbouring parts of an address (street, postcode, city) are one ADDRESS.
- The currency beside an amount belongs to it.
- Of spans that overlap, the first and longest stays; only labels that a set annotates count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from service.evaluation.records import LabelledSpan

_GAP = re.compile(r"[\s,;·|-]{0,4}(?:[A-Z]{1,3}[\s-]+)?")
"""Between two parts of an address: marks, and the letters of a country before its postcode."""
_BEFORE = re.compile(r"(?<!\w)(?:[€$£]|EUR|USD|GBP) ?$")
_AFTER = re.compile(r" ?(?:[€$£]|(?:EUR|USD|GBP)\b)")
_AMOUNTS = frozenset(("MONEY", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"))
_FARTHEST = 5
"""Characters before an amount in which its currency is looked for."""


def conventional(text: str, spans: Iterable[LabelledSpan], labels: Collection[str]) -> list[LabelledSpan]:
    """The spans of these labels, in order and without overlap, by the rules above."""
    kept: list[LabelledSpan] = []
    for span in sorted((each for each in spans if each.label in labels), key=lambda each: (each.start, -each.end)):
        if kept and span.start < kept[-1].end:
            continue
        if kept and _is_one_address(text, kept[-1], span):
            kept[-1] = kept[-1]._replace(end=span.end, score=(kept[-1].score + span.score) / 2)
        else:
            kept.append(span)
    return [_with_currency(text, span) if span.label in _AMOUNTS else span for span in kept]


def _is_one_address(text: str, span: LabelledSpan, following: LabelledSpan) -> bool:
    return span.label == following.label == "ADDRESS" and bool(_GAP.fullmatch(text, span.end, following.start))


def _with_currency(text: str, span: LabelledSpan) -> LabelledSpan:
    before = _BEFORE.search(text, max(0, span.start - _FARTHEST), span.start)
    after = _AFTER.match(text, span.end)
    return span._replace(start=before.start() if before else span.start, end=after.end() if after else span.end)
