"""Load of an API worker, stage by stage: the work that is asked of it over what it can do. Pure: time is passed in.

A document's work counts when it arrives, by what it is expected to take, whether it is then read, waits or is refused;
once it was measured, the difference is added. So a parser that is asked for three seconds a second shows 3, though it
is never more than busy. Work that takes far longer than expected shows as that: busy.

    compute    asked-for tokens a second / what the device computes           `throughput`, in the engine
    tokenize   asked-for seconds of tokenizing and decoding / the workers     `TextMeter`, in each worker
    parse      asked-for seconds of parsing / the parsers                     `AskedWork`, in each worker

The service's work ratio is the largest of the three. The expected seconds of a file are learnt for each format from the
files that were parsed (`ParseCost`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from enum import StrEnum
from statistics import fmean
from typing import Annotated

import msgspec
from msgspec import Meta

HORIZON_SECONDS = 10.0
"""20 s after a step 86 % of it is seen, which is when the fleet decides how many tasks to add."""


class DecayingSum:
    """An exponentially weighted sum: each amount counts with e^(-age / horizon)."""

    def __init__(self, horizon_seconds: float = HORIZON_SECONDS) -> None:
        self._horizon = horizon_seconds
        self._sum = 0.0
        self._at = -math.inf

    def add(self, amount: float, now: float) -> None:
        """Count an amount; a negative one takes back what was counted too much."""
        self._sum = self.value(now) + amount
        self._at = max(now, self._at)

    def value(self, now: float) -> float:
        """The sum."""
        return self._sum * math.exp(-max(now - self._at, 0.0) / self._horizon) if self._sum else 0.0

    def per_second(self, now: float) -> float:
        """The rate at which the amounts come."""
        return self.value(now) / self._horizon


FIRST_GUESS_SECONDS_PER_BYTE = 2e-7
JSON = "json"
JSON_SECONDS_PER_BYTE = 1e-8
"""A first guess too: decoding JSON is no matter of pages and fonts."""
OCR, OCR_PAGE_BYTES = "ocr", 1024 * 1024
"""Recognition of pages: its cost is learnt by pages, each counted as so many bytes."""
_FIRST_GUESSES = {JSON: JSON_SECONDS_PER_BYTE, OCR: 3e-6}
BASE_BYTES = 64 * 1024
"""Added to the size of every file, so that what small files take says little of what large ones would."""
_WEIGHT = 0.05
_MOST_STEP = math.log(8.0)


class ParseCost:
    """The seconds per byte of each format, as learnt so far.

    The mean is geometric and an observation counts for at most eight times the expectation, so that a few files made
    to be slow do not make all others look so.
    """

    def __init__(self) -> None:
        self._logarithms: dict[str, float] = {}

    def expected_seconds(self, kind: str, size_bytes: int) -> float:
        """What a file of this format and size is expected to take."""
        return (size_bytes + BASE_BYTES) * math.exp(self._logarithm(kind))

    def observe(self, kind: str, size_bytes: int, seconds: float) -> None:
        """Learn from a file that took this long."""
        known = self._logarithm(kind)
        rate = max(seconds, 1e-6) / (size_bytes + BASE_BYTES)
        step = min(max(math.log(rate) - known, -_MOST_STEP), _MOST_STEP)
        self._logarithms[kind] = known + _WEIGHT * step

    def _logarithm(self, kind: str) -> float:
        guess = _FIRST_GUESSES.get(kind, FIRST_GUESS_SECONDS_PER_BYTE)
        return self._logarithms.get(kind, math.log(guess))


MOST_FOR_WAITING = 0.5
"""Callers who wait for their answers ask for no more than is done: by their waiting it is known that it is too little,
but not how much more there would be. Added tasks get none of what waits elsewhere, so it is not asked for in full."""
MOST_RATIO = 1e6
Level = Annotated[float, Meta(ge=0.0, le=MOST_RATIO)]
Tokens = Annotated[float, Meta(ge=0.0, le=1e15)]


class Stage(StrEnum):
    """A possible bottleneck, named as the stages of a document's way are."""

    COMPUTE = "compute"
    TOKENIZE = "tokenize"
    PARSE = "parse"


class WorkerLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The load of one worker, or the mean of several, which have equal parts.

    Attributes:
        tokenize_ratio, parse_ratio: asked-for seconds a second ÷ what there is for them.
        wait_seconds: what the parsers are expected to need for the files that were not begun.
        held_tokens: of the texts that wait until they are prepared (`preparation`); the sum over several workers.
    """

    tokenize_ratio: Level = 0.0
    parse_ratio: Level = 0.0
    wait_seconds: Level = 0.0
    held_tokens: Tokens = 0.0

    @property
    def ratios(self) -> Mapping[Stage, float]:
        """The work ratio of each stage."""
        return {Stage.TOKENIZE: self.tokenize_ratio, Stage.PARSE: self.parse_ratio}


IDLE = WorkerLoad()


def mean_of(loads: Collection[WorkerLoad]) -> WorkerLoad:
    """The load of several workers together: connections, not documents, are shared among them, so none is all."""
    if not loads:
        return IDLE
    return WorkerLoad(
        fmean(each.tokenize_ratio for each in loads),
        fmean(each.parse_ratio for each in loads),
        fmean(each.wait_seconds for each in loads),
        sum(each.held_tokens for each in loads),
    )


class AskedWork:
    """The seconds of one stage's work that are asked for, and done, over the `places` that do it at a time."""

    def __init__(self, places: float = 1.0) -> None:
        self._places = places
        self._asked = DecayingSum()
        self._done = DecayingSum()
        self._done_seconds: float | None = None

    def ask(self, seconds: float, now: float) -> None:
        """Count work that came, by what it is expected to take."""
        self._asked.add(seconds, now)

    def correct(self, expected_seconds: float, measured_seconds: float, asked: float, now: float) -> None:
        """Make up the difference for work that was done, as if it had been known when it was asked for."""
        self._asked.add((measured_seconds - expected_seconds) * math.exp((asked - now) / HORIZON_SECONDS), now)

    def did(self, total_seconds: float, now: float) -> None:
        """Note the seconds that the places have worked since their start, for whatever it was."""
        if self._done_seconds is not None:
            self._done.add(total_seconds - self._done_seconds, now)
        self._done_seconds = total_seconds

    def ratio(self, now: float) -> float:
        """Asked-for seconds a second over the places, or how busy they are, whichever is more."""
        most = max(self._asked.per_second(now), self._done.per_second(now), 0.0)
        return min(most / self._places, MOST_RATIO)


class TextMeter:
    """The tokenizing and decoding that is asked of one worker.

    Attributes:
        work: of its event loop, with the threads beside it; its other work counts where that is more.
    """

    def __init__(self) -> None:
        self.work = AskedWork()
        self._cost = ParseCost()

    def came(self, kind: str, size: int, now: float) -> float:
        """Count the work on a document's text when it comes; returns the seconds that are expected."""
        expected = self._cost.expected_seconds(kind, size)
        self.work.ask(expected, now)
        return expected

    def done(self, kind: str, size: int, seconds: float) -> None:
        """Learn from a document that was tokenized and decoded in so many seconds."""
        self._cost.observe(kind, size, seconds)


def worker_load(
    text: AskedWork, parse: AskedWork, wait_seconds: float, now: float, held_tokens: float = 0.0
) -> WorkerLoad:
    """One worker's load. What waits for a parser is work for the next horizon, beside what is asked for meanwhile."""
    waiting = min(wait_seconds / HORIZON_SECONDS, MOST_FOR_WAITING)
    parse_ratio = min(parse.ratio(now) + waiting, MOST_RATIO)
    return WorkerLoad(text.ratio(now), parse_ratio, min(wait_seconds, MOST_RATIO), held_tokens)
