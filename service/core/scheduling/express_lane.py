"""Express lane: whether documents of clients that ask for little run in a batch of their own. Pure.

A full batch takes up to a tenth of a second on most devices, and who has one short text in it waits for all of it. In a
batch of their own such documents are done in a fraction of that; what it costs the device is a batch's base
(`batch_latency`), since their tokens are to be computed anyway. The rules:
- It is done where it saves at least `LEAST_SAVED_SECONDS` of waiting (`BESIDE_SECONDS` if it is to run beside another):
  on a fast device batches are short.
- Who is in a batch that runs has none of it: it is for those who ask now and then, beside others.
- The bases take at most `SHARE` of the device's time. What is not used is saved up, to a limit. A base is taken for at
  least `LEAST_COST` of the wait that is saved, since a line through batches of one size has none.
"""

from __future__ import annotations

SHARE = 0.125
MOST_SECONDS = 0.25
LEAST_SAVED_SECONDS = 0.005
BESIDE_SECONDS = 0.02
"""What a batch must save that runs beside another, which it makes longer."""
LEAST_COST = 1 / 32

LIGHT_SHARE = 1 / 8
"""Part of a full batch up to which a client asks for little."""
ALL_LIGHT_SHARE = 1 / 4
"""Part of a full batch up to which all of them together do: with more, their own batch is nearly a full one."""


class ExpressLane:
    """The account of one device's express batches, in seconds."""

    def __init__(self) -> None:
        self._saved_up_seconds = 0.0

    def earn(self, seconds: float) -> None:
        """Count the device's time for a completed batch."""
        self._saved_up_seconds = min(self._saved_up_seconds + SHARE * seconds, MOST_SECONDS)

    def cost(self, base_seconds: float, saved_seconds: float, *, is_beside: bool = False) -> float | None:
        """What a batch costs that saves its documents so much waiting; None if it is not worth it, or too much."""
        seconds = max(base_seconds, LEAST_COST * saved_seconds)
        is_worth_it = saved_seconds >= (BESIDE_SECONDS if is_beside else LEAST_SAVED_SECONDS)
        return seconds if is_worth_it and seconds <= self._saved_up_seconds else None

    def spend(self, cost_seconds: float) -> None:
        """Count a batch that was added."""
        self._saved_up_seconds -= cost_seconds
