"""One row for each request, kept as columns: when it was due, sent and answered, and what the answer said.

Times are seconds since the start of the run. The files: `requests.csv.gz` for people, .npz between processes.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from loadtest.client.connection import Reply
from loadtest.errors import BadInput
from loadtest.records.answer import STAGES, Answer, read_answer

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]

REFUSAL_STATUSES = (429, 503, 504)
"""Nobody's fault; come back later."""
ROWS_AS_TUPLES = 20_000
NUMBERS = ("intended", "sent", "done", "retry_after", *(f"{stage}_ms" for stage in STAGES))
COUNTS = ("job", "status", "tokens", "typed")
WORDS = ("outcome", "revision")
COLUMNS = (*NUMBERS, *COUNTS, *WORDS)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Columns of equal length, in the order of the intended times."""

    intended: Floats
    sent: Floats
    done: Floats
    retry_after: Floats
    stages_ms: Floats
    job: Integers
    status: Integers
    tokens: Integers
    typed: Booleans
    outcome: Texts
    revision: Texts

    def __len__(self) -> int:
        return len(self.intended)

    @property
    def latency_ms(self) -> Floats:
        """From the intended time: what a caller who came on schedule waited."""
        found: Floats = (self.done - self.intended) * 1000
        return found

    @property
    def lag_ms(self) -> Floats:
        """What the generator itself was late."""
        found: Floats = (self.sent - self.intended) * 1000
        return found

    @property
    def ok(self) -> Booleans:
        return np.asarray(self.outcome == "ok", dtype=np.bool_)

    @property
    def refused(self) -> Booleans:
        """Turned away for want of capacity or readiness, as opposed to failed."""
        return np.asarray(np.isin(self.status, REFUSAL_STATUSES), dtype=np.bool_)

    @property
    def failed(self) -> Booleans:
        return np.asarray(~self.ok & ~self.refused, dtype=np.bool_)

    def where(self, chosen: Booleans | Integers) -> Records:
        """Some of the rows."""
        return Records(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})

    def between(self, begin: float, end: float) -> Records:
        """Those that were due in this time."""
        return self.where(np.asarray((self.intended >= begin) & (self.intended < end), dtype=np.bool_))


class Recorder:
    """Takes notes while requests end; as little work for each as can be. Old rows are packed into columns."""

    def __init__(self, origin: float) -> None:
        self._origin = origin
        self._rows: list[tuple[object, ...]] = []
        self._packed: list[Records] = []
        self._fresh: list[float] = []
        self._lag = 0.0
        self.ok = self.refused = self.failed = 0

    def note(self, job: int, intended: float, sent: float, done: float, reply: Reply) -> None:
        """One request's end; times on the monotonic clock."""
        answer, origin = read_answer(reply), self._origin
        times = (intended - origin, sent - origin, done - origin, answer.retry_after_seconds)
        facts = (job, answer.status, answer.tokens, answer.typed, answer.outcome, answer.revision)
        self._rows.append((*times, *answer.stages_ms, *facts))
        if len(self._rows) == ROWS_AS_TUPLES:
            self._packed.append(from_rows(self._rows))
            self._rows.clear()
        self._count(answer, intended, sent, done)

    def fresh(self) -> tuple[list[float], float]:
        """Latencies of the good answers, and the longest lag, in milliseconds, since the last time."""
        found, self._fresh = self._fresh, []
        lag, self._lag = self._lag, 0.0
        return found, lag

    def records(self) -> Records:
        return merge((*self._packed, from_rows(self._rows)))

    def _count(self, answer: Answer, intended: float, sent: float, done: float) -> None:
        self._lag = max(self._lag, (sent - intended) * 1000)
        if answer.outcome == "ok":
            self.ok += 1
            self._fresh.append((done - intended) * 1000)
        elif answer.status in REFUSAL_STATUSES:
            self.refused += 1
        else:
            self.failed += 1


def from_rows(rows: Iterable[tuple[object, ...]]) -> Records:
    """Records of rows whose fields are `COLUMNS`."""
    columns: dict[str, Any] = dict.fromkeys(COLUMNS, ())
    columns.update(zip(COLUMNS, zip(*rows, strict=True), strict=False))
    numbers = {name: np.array(columns[name], dtype=np.float64) for name in NUMBERS}
    counts = {name: np.array(columns[name], dtype=np.int64) for name in COUNTS}
    words = {name: np.array(columns[name], dtype=np.str_) for name in WORDS}
    records = Records(
        intended=numbers["intended"],
        sent=numbers["sent"],
        done=numbers["done"],
        retry_after=numbers["retry_after"],
        stages_ms=np.stack([numbers[f"{stage}_ms"] for stage in STAGES], axis=1),
        job=counts["job"],
        status=counts["status"],
        tokens=counts["tokens"],
        typed=counts["typed"].astype(np.bool_),
        outcome=words["outcome"],
        revision=words["revision"],
    )
    return records.where(np.argsort(records.intended, kind="stable"))


def merge(parts: Iterable[Records]) -> Records:
    """The records of several processes as one."""
    parts = list(parts)
    together = {each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Records)}
    merged = Records(**together)
    return merged.where(np.argsort(merged.intended, kind="stable"))


def save(records: Records, path: Path) -> None:
    """Into an .npz file, for another process of ours."""
    np.savez(path, **{each.name: getattr(records, each.name) for each in fields(records)})


def load(path: Path) -> Records:
    """What `save` wrote."""
    with np.load(path, allow_pickle=False) as found:
        return Records(**{each.name: found[each.name] for each in fields(Records)})


def write_csv(records: Records, path: Path) -> None:
    """Gzipped CSV, a line for each request."""
    columns = [*(getattr(records, name) for name in NUMBERS[:4]), *records.stages_ms.T]
    shown = [[f"{value:.6g}" if value == value else "" for value in column.tolist()] for column in columns]
    counts = [getattr(records, name).astype(np.int64).tolist() for name in COUNTS]
    words = [getattr(records, name).tolist() for name in WORDS]
    with gzip.open(path, "wt", newline="", compresslevel=3) as sink:
        rows = csv.writer(sink)
        rows.writerow(COLUMNS)
        rows.writerows(zip(*shown, *counts, *words, strict=True))


def read_csv(path: Path) -> Records:
    """What `write_csv` wrote.

    Raises:
        BadInput: it is not such a file.
    """
    try:
        with gzip.open(path, "rb") as source:
            rows = list(csv.reader(io.TextIOWrapper(source, newline="")))
        if tuple(rows[0]) != COLUMNS:
            raise BadInput(f"{path} has other columns than those of a load test")
        return from_rows(map(_typed, rows[1:]))
    except (OSError, ValueError, IndexError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error


def _typed(row: list[str]) -> tuple[object, ...]:
    numbers = [float(value or "nan") for value in row[: len(NUMBERS)]]
    counts = [int(value) for value in row[len(NUMBERS) : len(NUMBERS) + len(COUNTS)]]
    return (*numbers, *counts, *row[len(NUMBERS) + len(COUNTS) :])
