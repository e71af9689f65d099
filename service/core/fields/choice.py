"""The choice for one role: the best mention, why it was chosen, and the other values that there are.

Mentions of one value stand together, as the best of them; it counts a little more each time that their number doubles.
Ties go to what comes first in the document.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from service.core.fields.mention import Mention, same_value

MOST_ALTERNATIVES = 5
REPEATED = 0.05
"""What a value's weight gains when it is there twice, four times, and so on."""

Weigh = Callable[[Mention], float]
"""How well a mention fits a role: from 0, not at all."""


class Reason(StrEnum):
    """What decided: the model's label and score, the sum of amounts, or words and place in the text."""

    LABEL = "label"
    SUM = "sum"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Choice:
    """The mention chosen for a role; `alternatives`: the other values, best first."""

    best: Mention
    reason: Reason
    alternatives: tuple[Mention, ...] = ()


def ranked(mentions: Iterable[Mention], weigh: Weigh) -> list[tuple[Mention, float]]:
    """The best mention of each value with its weight, best first; those that do not fit at all are left out."""
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


def choose(found: Iterable[tuple[Mention, float]], reason: Reason = Reason.LABEL) -> Choice | None:
    """The first of `ranked`, with the next ones as alternatives."""
    mentions = [mention for mention, _ in islice(found, MOST_ALTERNATIVES + 1)]
    return Choice(mentions[0], reason, tuple(mentions[1:])) if mentions else None
