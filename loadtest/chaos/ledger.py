"""The ledger of a chaos run: every exchange with its verdict, every fault with its time, and what they say. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from loadtest.chaos.oracle import Verdict

SLACK_SECONDS = 3.0
"""How long after a fault a connection may still be found lost."""
BAD = (Verdict.WRONG, Verdict.UNTYPED)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it; seconds from the start of the run."""

    question: str
    verdict: Verdict
    begun_seconds: float
    ended_seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Happened:
    """A fault and its time. `loses`: connections to a killed process are lost with it."""

    fault: str
    begun_seconds: float
    ended_seconds: float
    loses: bool


@dataclass(slots=True)
class Ledger:
    """Everything that happened, in order."""

    exchanges: list[Exchange] = field(default_factory=list)
    faults: list[Happened] = field(default_factory=list)
    unhealthy: list[str] = field(default_factory=list)
    """What was wrong after the last fault, in sentences."""

    def verdicts(self) -> Counter[Verdict]:
        """Exchanges by verdict."""
        return Counter(exchange.verdict for exchange in self.exchanges)

    @property
    def has_answers(self) -> bool:
        """True when a request was answered rightly."""
        return any(each.verdict is Verdict.RIGHT for each in self.exchanges)

    def unexplained(self) -> list[Exchange]:
        """Lost exchanges during which no fault happened that loses connections."""
        return [each for each in self._of((Verdict.LOST,)) if not self._explained(each)]

    def findings(self) -> list[str]:
        """A sentence for each thing that must not happen; empty after a good run."""
        bad = [
            f"{each.question}: {each.verdict} at {each.ended_seconds:.1f} s: {each.detail}" for each in self._of(BAD)
        ]
        lost = [
            f"{each.question}: lost at {each.ended_seconds:.1f} s without a fault that explains it: {each.detail}"
            for each in self.unexplained()
        ]
        return [*bad, *lost, *self.unhealthy, *(["no request was answered"] if not self.has_answers else [])]

    def table(self) -> list[str]:
        """Rows in Markdown: for each fault how often it happened, and what came of the requests that it met."""
        rows = [
            "| fault | times | right | refused | lost | wrong | untyped | slowest s |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for name in dict.fromkeys(fault.fault for fault in self.faults):
            times = [fault for fault in self.faults if fault.fault == name]
            rows.append(_row(name, str(len(times)), [each for each in self.exchanges if _meets(each, times)]))
        return [*rows, _row("whole run", "", self.exchanges)]

    def _of(self, verdicts: Iterable[Verdict]) -> list[Exchange]:
        wanted = set(verdicts)
        return [each for each in self.exchanges if each.verdict in wanted]

    def _explained(self, exchange: Exchange) -> bool:
        return _meets(exchange, [fault for fault in self.faults if fault.loses])


def _meets(exchange: Exchange, faults: list[Happened]) -> bool:
    return any(
        fault.begun_seconds <= exchange.ended_seconds and exchange.begun_seconds <= fault.ended_seconds + SLACK_SECONDS
        for fault in faults
    )


def _row(name: str, times: str, exchanges: list[Exchange]) -> str:
    found = Counter(exchange.verdict for exchange in exchanges)
    slowest = max((each.ended_seconds - each.begun_seconds for each in exchanges), default=0.0)
    shown = (Verdict.RIGHT, Verdict.REFUSED, Verdict.LOST, Verdict.WRONG, Verdict.UNTYPED)
    return f"| {name} | {times} | " + " | ".join(str(found[each]) for each in shown) + f" | {slowest:.1f} |"
