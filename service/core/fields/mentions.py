"""Mentions: entities with place and value, their ranking for a role, and the choice of the best.

Mentions of one value rank as the best of them, plus `REPEATED` each time their number doubles. The first one in the
document wins a tie.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from service.core.decoding.value import Value, ValueKind
from service.core.fields.roles import AMOUNTS, IDENTIFIERS, NAMES
from service.core.fields.vocabulary.phrases import letters_of

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in points from a page's upper left corner."""
_FIRST_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?![.,0-9])")
_DECIMALS_OF_RATES = 4
"""Fewest decimals that no sum of money has."""
_COMPACT = NAMES | IDENTIFIERS | {"EMPLOYER", "SCHOOL"}
"""Labels of values that are one in all spellings."""
RATE_SCORE = 0.9
"""Score of a percentage that no entity of the model is."""
DERIVED = -1
"""Number of a mention that is no entity: a sum of stated amounts, which has no place, or a rate that words state."""


class Mention(NamedTuple):
    """One entity at the code points `[start, end)`; `entity`: its number among all of the document.

    `by_keyword`: a value of the key-value fallback (`keyword_values`), no entity of the document.
    A tuple for the same reason as `Entity`.
    """

    entity: int
    label: str
    text: str
    start: int
    end: int
    score: float
    value: Value
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    by_keyword: bool = False


def derived_amount(label: str, value: Decimal, parts: Sequence[Mention]) -> Mention:
    """Make the mention of an amount that follows from others; it has no place, and the least of their scores."""
    unit = next((code for part in parts if (code := currency(part))), None)
    text = f"{value:f} {unit}" if unit else f"{value:f}"
    score = min((part.score for part in parts), default=0.0)
    return Mention(DERIVED, label, "", 0, 0, score, Value(ValueKind.MONEY, text, number=value, unit=unit))


def stated_rate(text: str, start: int, percent: Decimal) -> Mention:
    """Make the mention of a percentage that is no entity, at its place."""
    value = Value(ValueKind.PERCENT, f"{percent:f}", number=percent)
    return Mention(DERIVED, "PERCENT", text, start, start + len(text), RATE_SCORE, value)


def amount(mention: Mention) -> Decimal | None:
    """Return the sum of money that a mention states; None where its text leaves it open, or it is infinite."""
    stated = mention.value.number if mention.value.kind is ValueKind.MONEY else None
    return stated if stated is not None and stated.is_finite() else None


def is_sum(mention: Mention) -> bool:
    """True if a mention may be a sum of a bill: it is read as money, and has no more decimals than money has.

    A number with four decimals or more that are not zero is a rate of exchange or the price of a unit.
    """
    stated = amount(mention)
    if stated is None or -int(stated.as_tuple().exponent) < _DECIMALS_OF_RATES:
        return mention.value.kind is ValueKind.MONEY
    return stated * 100 == (stated * 100).to_integral_value()


def currency(mention: Mention) -> str | None:
    """Return the ISO code of the currency that a sum of money names."""
    return mention.value.unit if _is_money(mention) else None


def number(mention: Mention) -> Decimal | None:
    """Return the number of a quantity or an amount, whatever its unit."""
    stated = mention.value.number
    if stated is not None:
        return stated if stated.is_finite() else None
    found = _FIRST_NUMBER.match(mention.text)
    return Decimal(found[0].replace(",", ".")) if found else None


def same_value(mention: Mention) -> str:
    """Make a key that mentions of one value share: an amount's number, names and IDs without case, marks and spaces."""
    if _is_money(mention):
        stated = amount(mention)
        return str(stated.normalize()) if stated is not None else mention.text
    if mention.label in _COMPACT:
        return letters_of(mention.value.text) or mention.value.text
    return mention.value.text.casefold()


def _is_money(mention: Mention) -> bool:
    return mention.label in AMOUNTS


MOST_ALTERNATIVES = 5
REPEATED = 0.05
"""Weight that a value gains each time the number of its mentions doubles."""

Weighted = list[tuple[Mention, float]]
"""Mentions with their weights for a role."""
Weigh = Callable[[Mention], float]
"""Weighs a mention for a role; 0 or less: it does not fit."""


class Reason(StrEnum):
    """Reason of a choice: the label and its score, a sum of amounts, words and position, or an invoice's XML."""

    LABEL = "label"
    SUM = "sum"
    CONTEXT = "context"
    EMBEDDED = "embedded"


WORDS, CHECKSUM, WRONG_CHECKSUM = "words", "checksum", "wrong checksum"
NO_SUM, LINES_BETWEEN = "does not add up", "lines between the sums"
"""Names of evidence: words for the role before the value, a checksum that holds or fails, amounts that do not add up,
and those that add up only with lines between them, such as shipping."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The mention chosen for a role.

    Attributes:
        alternatives: mentions of the other values, best first.
        is_doubtful: its own key, or another role, speaks against it, and no candidate is better.
        lead: weight of the chosen value less that of the next best one, or of nothing; below 0 if another rule decided.
        evidence: what speaks for and against the choice (`role_scores`), by name.
        score: probability that the value is right, which follows from the evidence.
    """

    best: Mention
    reason: Reason
    alternatives: tuple[Mention, ...] = ()
    is_doubtful: bool = False
    lead: float = field(default=0.0, compare=False)
    evidence: Mapping[str, float] = field(default_factory=dict, compare=False)
    score: float = field(default=0.0, compare=False)


def ranked(mentions: Iterable[Mention], weigh: Weigh) -> Weighted:
    """Rank values by their best mention and its weight, best first; mentions without weight are left out."""
    best: dict[str, tuple[Mention, float]] = {}
    times: Counter[str] = Counter()
    for mention in mentions:
        weight = weigh(mention)
        if weight > 0:
            value = same_value(mention)
            times[value] += 1
            if value not in best or weight > best[value][1]:
                best[value] = (mention, weight)
    weighed = [(mention, weight + REPEATED * math.log2(times[value])) for value, (mention, weight) in best.items()]
    return sorted(weighed, key=lambda found: (-found[1], found[0].start))


def choose(found: Sequence[tuple[Mention, float]], reason: Reason = Reason.LABEL) -> Choice | None:
    """Choose the first of `ranked`, with the next ones as alternatives."""
    return choice_of(found[0][0], found, reason) if found else None


def choice_of(best: Mention, found: Sequence[tuple[Mention, float]], reason: Reason) -> Choice:
    """Make the choice of one of `ranked`, with the other ones as alternatives."""
    value = same_value(best)
    weight = next((each for mention, each in found if same_value(mention) == value), 0.0)
    others = [(mention, each) for mention, each in found if same_value(mention) != value]
    alternatives = tuple(mention for mention, _ in others[:MOST_ALTERNATIVES])
    return Choice(best, reason, alternatives, lead=weight - (others[0][1] if others else 0.0))
