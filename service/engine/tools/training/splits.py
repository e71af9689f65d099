"""Which groups are left out of a training to score on. Pure: a function of the groups' names and the seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from service.engine.tools.training.errors import TooLittleData
from service.engine.tools.training.records import LabelledDocument

Documents = list[LabelledDocument]


def split(documents: Sequence[LabelledDocument], *, left_out_percent: int, seed: int) -> tuple[Documents, Documents]:
    """(training, left out): no group is on both sides, and every set gives up about `left_out_percent` of its text.

    Raises:
        TooLittleData: a percentage is asked for, and no set has two groups.
    """
    if not left_out_percent:
        return list(documents), []
    out: set[str] = set()
    for source in dict.fromkeys(document.source for document in documents):
        out |= _groups_out([each for each in documents if each.source == source], left_out_percent, seed)
    if not out:
        raise TooLittleData(
            "Nothing can be left out to score on: each file has one group alone. "
            "Give the records several groups, or leave nothing out with --left-out 0."
        )
    return [d for d in documents if d.group not in out], [d for d in documents if d.group in out]


def _groups_out(documents: Sequence[LabelledDocument], percent: int, seed: int) -> set[str]:
    """At least one group of several, in the order of their hashes, while they hold less than the percentage."""
    sizes: Counter[str] = Counter()
    for document in documents:
        sizes[document.group] += len(document.text)
    wanted = sizes.total() * percent / 100
    out: set[str] = set()
    held = 0
    for group in sorted(sizes, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest()):
        fits = held + sizes[group] <= 2 * wanted or not out
        if held < wanted and fits and len(out) + 1 < len(sizes):
            out.add(group)
            held += sizes[group]
    return out
