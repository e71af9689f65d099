"""Scheduled minima of tasks, as times of the simulation, which begins on a Monday at midnight UTC. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from infra.scaling.policy_values import Schedule

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def minima(schedules: Iterable[Schedule], seconds: float) -> list[tuple[float, int]]:
    """(time, minimum of tasks from then on), in order of time."""
    return sorted((at, each.minimum_tasks) for each in schedules for at in _times(each, seconds))


def _times(schedule: Schedule, seconds: float) -> Iterator[float]:
    minute, hour, day, month, weekday, _ = schedule.cron.split()
    zone = ZoneInfo(schedule.timezone)
    for number in range(-1, int(seconds // 86_400) + 2):
        local = (MONDAY + timedelta(days=number)).astimezone(zone)
        when = local.replace(hour=int(hour), minute=int(minute), second=0)
        of_day = day in ("?", "*") or int(day) == when.day
        if of_day and _named(weekday, DAYS, when.weekday()) and _named(month, MONTHS, when.month - 1):
            at = (when - MONDAY).total_seconds()
            if 0 <= at < seconds:
                yield at


def _named(field: str, names: tuple[str, ...], number: int) -> bool:
    """True if `MON-FRI`, `SAT,SUN`, `*` … has the name of this number."""
    if field in ("*", "?"):
        return True
    for part in field.split(","):
        first, _, last = part.partition("-")
        low, high = names.index(first), names.index(last or first)
        if low <= number <= high or (high < low and (number >= low or number <= high)):
            return True
    return False
