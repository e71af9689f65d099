"""`python -m infra.scaling.alarm_table`: rewrites the table of alarms in infra/README.md from the alarms."""

from __future__ import annotations

import re
from pathlib import Path

from infra.scaling.alarm_evaluation import Alarm, Comparison, Condition
from infra.scaling.oncall_alarms import alarms_for
from infra.scaling.platform_alarms import Shortfall, instances_missing, tasks_missing
from infra.scaling.policy import policy_for

README = Path(__file__).parents[1] / "README.md"
HEAD = "| alarm | when | what it means | what to do |"
TASKS, INSTANCES = tasks_missing("", ""), instances_missing("")
_WORDS = {Comparison.AT_LEAST: "≥", Comparison.ABOVE: ">", Comparison.AT_MOST: "≤", Comparison.BELOW: "<"}


def table() -> str:
    """All alarms with the thresholds of an unmeasured fleet; those that scale come last."""
    policy = policy_for()
    notifying, scaling = alarms_for(policy), (step.alarm for step in policy.steps)
    rows = [*map(_row, notifying), *map(_platform_row, (TASKS, INSTANCES)), *map(_row, scaling)]
    return "\n".join([HEAD, "|---|---|---|---|", *rows])


def write() -> None:
    """Replace the table in the README."""
    text = README.read_text()
    README.write_text(re.sub(re.escape(HEAD) + r"\n(\|.*\n)*", lambda _: table() + "\n", text))


def _row(alarm: Alarm) -> str:
    when = " and ".join(_condition(each) for each in alarm.conditions)
    return f"| `{alarm.name}` | {when}; {_patience(alarm)} | {alarm.meaning} | {alarm.remedy} |"


def _platform_row(alarm: Shortfall) -> str:
    when = f"{alarm.wanted.name} > {alarm.present.name}; {alarm.periods} of {alarm.periods} × {alarm.period_seconds} s"
    return f"| `{alarm.name}` | {when} | {alarm.meaning} | {alarm.remedy} |"


def _condition(condition: Condition) -> str:
    what = f"{condition.statistic.value} of {condition.signal.name}"
    if condition.per is not None:
        what += f" for each of {condition.per.name}"
    return f"{what} {_WORDS[condition.comparison]} {condition.threshold:g}"


def _patience(alarm: Alarm) -> str:
    return f"{alarm.datapoints_to_alarm} of {alarm.periods} × {alarm.period_seconds} s"


if __name__ == "__main__":
    write()
