"""Assertions for CI: `p99_ms<500`, `error_rate<=0.001`, `goodput_rps@overload>40`. Pure.

A name is a figure of the whole run, or, with `@`, of the phase that is named after it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from loadtest.errors import BadInput
from loadtest.results.summary import QUANTILES, Figures

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
PLAIN = (
    "offered_rps", "throughput_rps", "goodput_rps", "tokens_per_second", "error_rate", "refusal_rate", "requests",
    "ok", "refused", "failed", "untyped_refusals", "refusals_without_retry_after", "late_accepted",
)  # fmt: skip
LATENCIES = {f"{name}_ms": name for name in (*QUANTILES, "mean", "max")}
_SHAPE = re.compile(r"\s*([a-z0-9_]+)\s*(?:@\s*([^<>=]+?))?\s*(<=|>=|==|<|>)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True, slots=True)
class Check:
    """One assertion."""

    text: str
    name: str
    phase: str
    comparison: str
    limit: float


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The value of one assertion's figure, and whether the assertion holds."""

    check: Check
    value: float
    holds: bool

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}: {self.check.text} (measured: {self.value:.6g})"


def parse_check(text: str) -> Check:
    """The assertion in a text.

    Raises:
        BadInput: it is none; the message lists the names.
    """
    found = _SHAPE.fullmatch(text)
    if found is None or found[1] not in (*PLAIN, *LATENCIES):
        known = ", ".join((*LATENCIES, *PLAIN))
        raise BadInput(f"{text!r} is no assertion such as `p99_ms<500`; names: {known}")
    try:
        return Check(text, found[1], found[2] or "", found[3], float(found[4]))
    except ValueError as error:
        raise BadInput(f"{text!r}: {error}") from error


def evaluate_check(check: Check, whole: Figures, phases: list[Figures]) -> CheckOutcome:
    """Evaluate an assertion. A latency is NaN, for which none holds, when nothing was answered.

    Raises:
        BadInput: there is no phase of that name.
    """
    by_name = {each.name: each for each in phases}
    if check.phase and check.phase not in by_name:
        raise BadInput(f"{check.text!r}: there is no phase {check.phase!r}, but {', '.join(by_name)}")
    figures = by_name.get(check.phase, whole)
    if check.name in LATENCIES:
        value = figures.latency_ms.get(LATENCIES[check.name], float("nan"))
    else:
        value = float(getattr(figures, check.name))
    return CheckOutcome(check, value, COMPARE[check.comparison](value, check.limit))
