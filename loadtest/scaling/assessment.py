"""The assessment of a rehearsal: its figures, and which of them are not as required. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infra.scaling.autoscaler import Decision
from loadtest.records.records import Records
from loadtest.scenario.scenario import Phase

DECISION_LIMIT_SECONDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The figures of one rehearsal.

    Attributes:
        decision_seconds: from the step to the first decision to scale out; None without one.
        scaled_out_by: tasks added during the high load.
        seen_steady_seconds: how long the high load went on after the fleet should have settled, which is a start and
            half a minute after the first decision (the policy's own cooldown).
        later_changes: decisions in that time; a steady fleet has none.
        added_after: tasks added after the load went down; a fleet that does not oscillate has none.
        scaled_in_by: tasks removed under load.
        refused: requests refused with 429, 503 or 504.
        lost: requests without an answer, or with any other status.
        lost_scaling_in: lost requests that were due after the load went down.
        latest_sent_seconds: the largest lag, which is the delay of the rehearsal's own process.
        exit_codes: of all tasks.
    """

    decision_seconds: float | None
    scaled_out_by: int
    seen_steady_seconds: float
    later_changes: int
    added_after: int
    scaled_in_by: int
    requests: int
    refused: int
    lost: int
    lost_scaling_in: int
    latest_sent_seconds: float
    exit_codes: tuple[int, ...]

    @property
    def problems(self) -> list[str]:
        """The requirements that do not hold."""
        checks = (
            (self.decision_seconds is not None, "nothing was decided"),
            ((self.decision_seconds or 0.0) <= DECISION_LIMIT_SECONDS, "the decision came late"),
            (self.seen_steady_seconds > 0, "the high load was too short to see whether the fleet becomes steady"),
            (self.later_changes == 0, "the fleet did not become steady"),
            (self.added_after == 0, "tasks were added after the load had gone down"),
            (self.scaled_in_by > 0, "nothing was scaled in"),
            (self.lost == 0, "requests were lost"),
            (set(self.exit_codes) == {0}, "a task did not end well"),
        )
        return [problem for holds, problem in checks if not holds]

    def lines(self) -> list[str]:
        """The figures as sentences."""
        decided = "never" if self.decision_seconds is None else f"{self.decision_seconds:.0f} s after the step"
        return [
            f"Decided {decided} (limit {DECISION_LIMIT_SECONDS:.0f} s); {self.scaled_out_by} tasks added, "
            f"{self.later_changes} further changes in the last {self.seen_steady_seconds:.0f} s of the high load; then "
            f"{self.added_after} tasks added and {self.scaled_in_by} removed, under load.",
            f"{self.requests} requests, {self.refused} refused, {self.lost} lost, {self.lost_scaling_in} of them while "
            f"scaling in; "
            f"exit codes of all tasks: {', '.join(map(str, sorted(set(self.exit_codes))))}; "
            f"requests were sent at most {self.latest_sent_seconds:.2f} s late.",
        ]


def assess(
    phases: tuple[Phase, Phase, Phase],
    decisions: Sequence[Decision],
    records: Records,
    codes: Sequence[int],
    *,
    settle_seconds: float,
) -> Assessment:
    """The assessment of three phases: before the step, the high load, and after it. Times are from the start.

    Args:
        settle_seconds: how long after the first decision it may be corrected: at first only a part of the step is seen.
    """
    step = phases[0].seconds
    down = step + phases[1].seconds
    out = [each for each in decisions if each.tasks_after > each.tasks_before and each.at_seconds > step]
    settled = out[0].at_seconds + settle_seconds if out else down
    lost = records.where(records.failed)
    return Assessment(
        decision_seconds=out[0].at_seconds - step if out else None,
        scaled_out_by=sum(each.tasks_after - each.tasks_before for each in out if each.at_seconds < down),
        seen_steady_seconds=max(down - settled, 0.0),
        later_changes=sum(settled <= each.at_seconds < down for each in decisions),
        added_after=sum(each.tasks_after - each.tasks_before for each in out if each.at_seconds >= down),
        scaled_in_by=sum(
            each.tasks_before - each.tasks_after
            for each in decisions
            if each.at_seconds >= down and each.tasks_after < each.tasks_before
        ),
        requests=len(records),
        refused=int(records.refused.sum()),
        lost=len(lost),
        lost_scaling_in=int((lost.intended >= down).sum()),
        latest_sent_seconds=float(records.lag_ms.max(initial=0.0)) / 1000,
        exit_codes=tuple(codes),
    )
