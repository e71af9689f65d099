"""Which documents are scored: of left-out groups only, and of some groups where all would take too long.

The rule: groups come in the order of a digest of their names, so that the choice depends on nothing else, and what
training left out stays the same from one run to the next.
"""

from __future__ import annotations

import hashlib
from collections import Counter

from service.evaluation.records import EvaluationSet

LARGEST_PERCENT = 35
"""A group with more of a set's text is never left out of its training."""


def left_out(found: EvaluationSet, percent: float) -> EvaluationSet:
    """The groups that training leaves out: the first in order that hold so much of the set's text.

    The same as `model_store.builtin.training.mixture.split`, which leaves 12 % out.
    """
    sizes: Counter[str] = Counter()
    for document in found.documents:
        sizes[document.group] += len(document.text)
    total, taken, out = sizes.total(), 0, set[str]()
    for group in sorted(sizes, key=_order):
        if taken * 100 < percent * total and sizes[group] * 100 <= LARGEST_PERCENT * total:
            out.add(group)
            taken += sizes[group]
    return found.only(document for document in found.documents if document.group in out)


def limited(found: EvaluationSet, documents: int) -> EvaluationSet:
    """At most so many documents: the first of each group, then the second of each, so that many groups are there."""
    turns: Counter[str] = Counter()
    ordered: list[tuple[int, int, int]] = []
    for number, document in enumerate(found.documents):
        ordered.append((turns[document.group], _order(document.group), number))
        turns[document.group] += 1
    kept = {number for _, _, number in sorted(ordered)[:documents]}
    return found.only(document for number, document in enumerate(found.documents) if number in kept)


def folds(found: EvaluationSet, count: int) -> list[EvaluationSet]:
    """The documents in `count` parts; those of one group are in one part."""
    groups = sorted({document.group for document in found.documents}, key=lambda group: (_order(group), group))
    part = {group: number % count for number, group in enumerate(groups)}
    return [found.only(each for each in found.documents if part[each.group] == number) for number in range(count)]


def _order(group: str) -> int:
    return int.from_bytes(hashlib.sha256(group.encode()).digest()[:4], "big")
