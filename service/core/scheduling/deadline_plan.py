"""Who is late, who must hurry, and how much must be done by when. Pure; computed anew from what waits.

The order of deadlines is the yardstick: if each document can be through in time when the earliest deadline is served
first, all promises can be kept (Jackson's rule, 1955). Fair sharing alone cannot keep them: under steady overload it
lets long documents advance side by side, and all of them miss their deadlines together. So:
- a document that could not even be in time in this order is *late*: it is refused before more is spent on it;
- when one has little slack left in this order, it and all with earlier deadlines are *urgent*: among the documents of
  their client they go first, earliest deadline first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

URGENT_SHARE = 0.15
"""Of a document's time from admission to deadline: with less slack than this it is urgent."""


class Waiting(NamedTuple):
    """One document of which something waits."""

    deadline_seconds: float
    key: str
    admitted_seconds: float
    tokens: int


@dataclass(frozen=True, slots=True)
class DeadlinePlan:
    """`late` and `urgent` keys in the order of their deadlines; the rest is asked by deadline."""

    late: tuple[str, ...] = ()
    urgent: tuple[str, ...] = ()
    deadlines: tuple[float, ...] = ()
    sums: tuple[int, ...] = (0,)
    """Tokens of the first 0, 1, 2, … of them."""
    slacks: tuple[float, ...] = (float("inf"),)
    """Least slack, in seconds, of the last n, n - 1, …, 0 of them."""

    @property
    def last_deadline_seconds(self) -> float:
        """The latest of all."""
        return self.deadlines[-1] if self.deadlines else float("-inf")

    def tokens_until(self, deadline_seconds: float) -> int:
        """What waits with this deadline or an earlier one."""
        return self.sums[bisect_right(self.deadlines, deadline_seconds)]

    def slack_after(self, deadline_seconds: float) -> float:
        """How much longer those with later deadlines could all wait."""
        return self.slacks[bisect_right(self.deadlines, deadline_seconds)]


def make_plan(waiting: Iterable[Waiting], running_tokens: int, now: float, speed: float) -> DeadlinePlan:
    """The plan at this moment, for a device that does `speed` tokens a second."""
    late, kept, slacks, hurrying = [], [], [], 0
    ahead = running_tokens
    for document in sorted(waiting):
        slack = document.deadline_seconds - now - (ahead + document.tokens) / speed
        if slack < 0:
            late.append(document.key)
            continue
        ahead += document.tokens
        kept.append(document)
        slacks.append(slack)
        if slack < URGENT_SHARE * (document.deadline_seconds - document.admitted_seconds):
            hurrying = len(kept)
    return DeadlinePlan(
        tuple(late),
        tuple(document.key for document in kept[:hurrying]),
        tuple(document.deadline_seconds for document in kept),
        tuple(accumulate((document.tokens for document in kept), initial=0)),
        tuple(reversed(tuple(accumulate(reversed(slacks), min, initial=float("inf"))))),
    )
