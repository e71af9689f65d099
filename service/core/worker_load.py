"""Load of an API worker by stage: the work that is asked of it over its capacity. Pure: time is passed in.

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
"""Seconds after which an amount counts 1/e: 86 % of a step shows after 20 s, when the fleet decides on tasks."""


class DecayingSum:
    """An exponentially weighted sum: each amount counts with e^(-age / horizon)."""

    def __init__(self, horizon_seconds: float = HORIZON_SECONDS) -> None:
        self._horizon = horizon_seconds
        self._sum = 0.0
        self._at = -math.inf

    def add(self, amount: float, now: float) -> None:
        """Count an amount; a negative one corrects an earlier one."""
        self._sum = self.value(now) + amount
        self._at = max(now, self._at)

    def value(self, now: float) -> float:
        return self._sum * math.exp(-max(now - self._at, 0.0) / self._horizon) if self._sum else 0.0

    def per_second(self, now: float) -> float:
        return self.value(now) / self._horizon


FIRST_GUESS_SECONDS_PER_BYTE = 2e-7
OCR, OCR_PAGE_BYTES = "ocr", 1024 * 1024
"""The kind for recognized pages, and the bytes that each counts: their cost is learnt by pages."""
_FIRST_GUESSES = {OCR: 3e-6}
BASE_BYTES = 64 * 1024
"""Bytes added to the size of every file, so that small files teach little about large ones."""
_WEIGHT = 0.05
_MOST_STEP = math.log(8.0)


class ParseCost:
    """Learnt seconds per byte of each format.

    The mean is geometric and an observation counts for at most eight times the expectation, so that a few files made
    to be slow do not make all others look so.
    """

    def __init__(self) -> None:
        self._logarithms: dict[str, float] = {}

    def expected_seconds(self, kind: str, size_bytes: int) -> float:
        return (size_bytes + BASE_BYTES) * math.exp(self._logarithm(kind))

    def observe(self, kind: str, size_bytes: int, seconds: float) -> None:
        known = self._logarithm(kind)
        rate = max(seconds, 1e-6) / (size_bytes + BASE_BYTES)
        step = min(max(math.log(rate) - known, -_MOST_STEP), _MOST_STEP)
        self._logarithms[kind] = known + _WEIGHT * step

    def _logarithm(self, kind: str) -> float:
        guess = _FIRST_GUESSES.get(kind, FIRST_GUESS_SECONDS_PER_BYTE)
        return self._logarithms.get(kind, math.log(guess))


MOST_FOR_WAITING = 0.5
"""Largest part of a parse ratio from waiting files. Callers who wait send no more than is done, so waiting shows that
capacity is short, not by how much; and added tasks get none of the files that wait elsewhere."""
MOST_RATIO = 1e6
Level = Annotated[float, Meta(ge=0.0, le=MOST_RATIO)]
Tokens = Annotated[float, Meta(ge=0.0, le=1e15)]


class Stage(StrEnum):
    """Stage of a document's way, and possible bottleneck."""

    COMPUTE = "compute"
    TOKENIZE = "tokenize"
    PARSE = "parse"


class WorkerLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Load of one worker, or the mean of several.

    Attributes:
        tokenize_ratio, parse_ratio: asked-for seconds a second ÷ workers or parsers.
        wait_seconds: expected seconds of the parsers for the files that were not begun.
        held_tokens: tokens of the texts that wait for preparation; the sum over several workers.
    """

    tokenize_ratio: Level = 0.0
    parse_ratio: Level = 0.0
    wait_seconds: Level = 0.0
    held_tokens: Tokens = 0.0

    @property
    def ratios(self) -> Mapping[Stage, float]:
        return {Stage.TOKENIZE: self.tokenize_ratio, Stage.PARSE: self.parse_ratio}


IDLE = WorkerLoad()


def mean_of(loads: Collection[WorkerLoad]) -> WorkerLoad:
    """Combine the loads of several workers: a mean, since they share connections, not documents."""
    if not loads:
        return IDLE
    return WorkerLoad(
        fmean(each.tokenize_ratio for each in loads),
        fmean(each.parse_ratio for each in loads),
        fmean(each.wait_seconds for each in loads),
        sum(each.held_tokens for each in loads),
    )


class AskedWork:
    """Asked-for and done seconds of one stage's work, over the number of `places` that do it at once."""

    def __init__(self, places: float = 1.0) -> None:
        self._places = places
        self._asked = DecayingSum()
        self._done = DecayingSum()
        self._done_seconds: float | None = None

    def ask(self, seconds: float, now: float) -> None:
        """Count arrived work by its expected seconds."""
        self._asked.add(seconds, now)

    def correct(self, expected_seconds: float, measured_seconds: float, asked: float, now: float) -> None:
        """Add the difference between measured and expected seconds, as if known when the work was asked for."""
        self._asked.add((measured_seconds - expected_seconds) * math.exp((asked - now) / HORIZON_SECONDS), now)

    def did(self, total_seconds: float, now: float) -> None:
        """Note the seconds that the places have worked since their start, on anything."""
        if self._done_seconds is not None:
            self._done.add(total_seconds - self._done_seconds, now)
        self._done_seconds = total_seconds

    def ratio(self, now: float) -> float:
        """The larger of asked-for and done seconds a second, over the places."""
        most = max(self._asked.per_second(now), self._done.per_second(now), 0.0)
        return min(most / self._places, MOST_RATIO)


class TextMeter:
    """Tokenizing and decoding that is asked of one worker.

    Attributes:
        work: seconds of its event loop and threads; its other work counts where that is more.
    """

    def __init__(self) -> None:
        self.work = AskedWork()
        self._cost = ParseCost()

    def came(self, kind: str, size: int, now: float) -> float:
        """Count the work on an arrived text; returns its expected seconds."""
        expected = self._cost.expected_seconds(kind, size)
        self.work.ask(expected, now)
        return expected

    def done(self, kind: str, size: int, seconds: float) -> None:
        self._cost.observe(kind, size, seconds)


def worker_load(
    text: AskedWork, parse: AskedWork, wait_seconds: float, now: float, held_tokens: float = 0.0
) -> WorkerLoad:
    """Compute one worker's load; files that wait for a parser count as work for the next horizon."""
    waiting = min(wait_seconds / HORIZON_SECONDS, MOST_FOR_WAITING)
    parse_ratio = min(parse.ratio(now) + waiting, MOST_RATIO)
    return WorkerLoad(text.ratio(now), parse_ratio, min(wait_seconds, MOST_RATIO), held_tokens)
