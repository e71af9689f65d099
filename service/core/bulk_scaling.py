"""Scaling of bulk work: a task's pace, the backlog, and the number of tasks that a deadline needs. Pure.

    backlog seconds   files that wait × seconds of one task for a file
    tasks wanted      with a deadline: backlog seconds ÷ seconds until then; without: one while anything waits
    work ratios       bulk's part of each stage's, which the fleet's own policy leaves out

Both numbers are of the whole queue, not of one task's share: a task on ECS does not know how many there are, so alarms
divide. A fleet without a deadline has its minimum of tasks for other reasons; one that begins at zero keeps its first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from service.core.worker_load import DecayingSum, Stage

RATE_HORIZON_SECONDS = 300.0
FIRST_GUESS_SECONDS = 0.1
"""Seconds that a task is assumed to need for a file before its first answer."""
LEAD_SECONDS = 600.0
"""Seconds kept free before a deadline, for the cold start of added tasks and the last chunks."""
SHORTEST_SECONDS = 60.0
"""Least seconds to a deadline in the computation; a closer or missed one asks for tasks that clear it within this."""


@dataclass(frozen=True, slots=True)
class AnsweredWork:
    """Cost of answers to bulk files, from their `timing` and `tokens`.

    Attributes:
        text_seconds: time of API workers for tokenizing and decoding.
        parse_seconds: time of parsers.
    """

    files: float
    tokens: int = 0
    text_seconds: float = 0.0
    parse_seconds: float = 0.0


class BulkMeter:
    """The pace of one task's bulk work."""

    def __init__(self) -> None:
        self._files, self._seconds = DecayingSum(RATE_HORIZON_SECONDS), DecayingSum(RATE_HORIZON_SECONDS)
        self._tokens, self._text, self._parse = DecayingSum(), DecayingSum(), DecayingSum()

    def answered(self, work: AnsweredWork, now: float) -> None:
        self._files.add(work.files, now)
        self._tokens.add(work.tokens, now)
        self._text.add(work.text_seconds, now)
        self._parse.add(work.parse_seconds, now)

    def worked(self, seconds: float, now: float) -> None:
        """Count time in which the task had a chunk, delays included."""
        self._seconds.add(seconds, now)

    def seconds_per_file(self, now: float) -> float:
        """Seconds of one task for a file, with other work beside it; a guess before the first answer."""
        files, seconds = self._files.value(now), self._seconds.value(now)
        return seconds / files if files and seconds else FIRST_GUESS_SECONDS

    def work_ratios(self, now: float, *, tokens_per_second: float, workers: int, parsers: int) -> Mapping[Stage, float]:
        """Compute bulk's part of each stage's work ratio.

        Args:
            tokens_per_second: the device's capacity (`gleaner_capacity_tokens_per_second`); 0 while unknown.
            workers, parsers: processes of the task; parsers of all workers together.
        """
        return {
            Stage.COMPUTE: self._tokens.per_second(now) / tokens_per_second if tokens_per_second else 0.0,
            Stage.TOKENIZE: self._text.per_second(now) / workers,
            Stage.PARSE: self._parse.per_second(now) / parsers,
        }


def tasks_wanted(backlog_seconds: float, seconds_until_deadline: float | None, most: int) -> int:
    """Compute the tasks that clear the backlog in time, at most `most`; one without a deadline, none without a backlog.

    Args:
        seconds_until_deadline: time left for the job that is due first; None: no job has a deadline.
        most: GLEANER_BULK_TASKS; 0: deadlines add no tasks.
    """
    if backlog_seconds <= 0:
        return 0
    if seconds_until_deadline is None or not most:
        return 1
    left = max(seconds_until_deadline - LEAD_SECONDS, SHORTEST_SECONDS)
    return min(max(math.ceil(backlog_seconds / left), 1), most)
