"""Request records: replies of POST /extract read into answers, kept in columns, written to and read from CSV files.

Any service that answers POST /extract will do: a value that its answer lacks is unknown (NaN, or empty).
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from loadtest.errors import BadInput

UNKNOWN = float("nan")
STAGES = ("parse", "tokenize", "queue", "compute", "decode", "total")


class _Problem(msgspec.Struct):
    code: str = ""


class _Document(msgspec.Struct):
    tokens: int = 0
    characters: int = 0
    error: _Problem | None = None


class _Model(msgspec.Struct):
    revision: str = ""


class _Body(msgspec.Struct):
    documents: list[_Document] = []
    timing: dict[str, float] = {}
    model: _Model | None = None


_bodies = msgspec.json.Decoder(_Body)
_problems = msgspec.json.Decoder(_Problem)


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to one request. Status 0: there was no whole response; `failure` is then the failure's code."""

    status: int
    retry_after: str
    body: bytes
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """`outcome`: ok, the problem's code, or the code of a failure below HTTP. `typed`: a problem document has a code.

    `stages_ms` is in the order of `STAGES`; `retry_after_seconds` is NaN without the header.
    """

    outcome: str
    status: int
    typed: bool = True
    tokens: int = 0
    stages_ms: tuple[float, ...] = (UNKNOWN,) * len(STAGES)
    retry_after_seconds: float = UNKNOWN
    revision: str = ""


def read_answer(reply: Reply) -> Answer:
    """The answer in a reply."""
    if reply.status == 0:
        return Answer(reply.failure.partition(" ")[0], 0, typed=False)
    if reply.status != 200:
        return _refusal(reply)
    try:
        body = _bodies.decode(reply.body)
    except msgspec.MsgspecError:
        return Answer("unreadable_answer", reply.status, typed=False)
    errors = [document.error.code for document in body.documents if document.error is not None]
    return Answer(
        errors[0] if errors else "ok",
        reply.status,
        tokens=sum(document.tokens for document in body.documents),
        stages_ms=tuple(body.timing.get(f"{stage}_ms", UNKNOWN) for stage in STAGES),
        revision=body.model.revision if body.model else "",
    )


def _refusal(reply: Reply) -> Answer:
    try:
        code = _problems.decode(reply.body).code
    except msgspec.MsgspecError:
        code = ""
    wait = float(reply.retry_after) if reply.retry_after.replace(".", "", 1).isdigit() else UNKNOWN
    return Answer(code or f"http_{reply.status}", reply.status, typed=bool(code), retry_after_seconds=wait)


Floats = npt.NDArray[np.float64]
Window = tuple[float, float]
"""Begin and length, in seconds."""
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]

REFUSAL_STATUSES = (429, 503, 504)
"""Statuses of a service without capacity or readiness: neither the client's fault nor an error of the service."""
TOO_LONG = "too_long_for_deadline"
"""Outcome of a document for which the deadline is too short at any load: refused as well, but not for now."""
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
        """Time from when a request was due, so that a stall counts for every request due in it."""
        return np.asarray((self.done - self.intended) * 1000, dtype=np.float64)

    @property
    def lag_ms(self) -> Floats:
        """Delay of the generator in sending a request."""
        return np.asarray((self.sent - self.intended) * 1000, dtype=np.float64)

    @property
    def ok(self) -> Booleans:
        return np.asarray(self.outcome == "ok", dtype=np.bool_)

    @property
    def refused(self) -> Booleans:
        return np.asarray(np.isin(self.status, REFUSAL_STATUSES) | (self.outcome == TOO_LONG), dtype=np.bool_)

    @property
    def failed(self) -> Booleans:
        return np.asarray(~self.ok & ~self.refused, dtype=np.bool_)

    def where(self, chosen: Booleans | Integers) -> Records:
        """The rows that a mask or indices choose."""
        return Records(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})

    def due_in(self, windows: Iterable[Window]) -> Records:
        """The records of the requests that were due in these windows."""
        return self.where(inside(self.intended, windows))

    def between(self, begin: float, end: float) -> Records:
        """The rows that were due in [begin, end)."""
        return self.where(np.asarray((self.intended >= begin) & (self.intended < end), dtype=np.bool_))


def inside(times: Floats, windows: Iterable[Window]) -> Booleans:
    """A mask of the times that are in one of these windows."""
    chosen = np.zeros(len(times), dtype=np.bool_)
    for begin, length in windows:
        chosen |= (times >= begin) & (times < begin + length)
    return chosen


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
    """The records of several processes, in the order of the intended times."""
    parts = list(parts)
    together = {each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Records)}
    merged = Records(**together)
    return merged.where(np.argsort(merged.intended, kind="stable"))


def save(records: Records, path: Path) -> None:
    """Write an .npz file, for another process of the load test."""
    np.savez(path, **{each.name: getattr(records, each.name) for each in fields(records)})


def load(path: Path) -> Records:
    """Read a file written by `save`."""
    with np.load(path, allow_pickle=False) as found:
        return Records(**{each.name: found[each.name] for each in fields(Records)})


def write_csv(records: Records, path: Path) -> None:
    """Write gzipped CSV, one line per request."""
    columns = [*(getattr(records, name) for name in NUMBERS[:4]), *records.stages_ms.T]
    shown = [[f"{value:.6g}" if value == value else "" for value in column.tolist()] for column in columns]
    counts = [getattr(records, name).astype(np.int64).tolist() for name in COUNTS]
    words = [getattr(records, name).tolist() for name in WORDS]
    with gzip.open(path, "wt", newline="", compresslevel=3) as sink:
        rows = csv.writer(sink)
        rows.writerow(COLUMNS)
        rows.writerows(zip(*shown, *counts, *words, strict=True))


def read_csv(path: Path) -> Records:
    """Read a file written by `write_csv`.

    Raises:
        BadInput: it is in another format.
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


ROWS_AS_TUPLES = 20_000
"""Rows that are kept as tuples before they are packed into columns."""


class Recorder:
    """The records of one process, and the counts of their outcomes so far."""

    def __init__(self, origin: float) -> None:
        self._origin = origin
        self._rows: list[tuple[object, ...]] = []
        self._packed: list[Records] = []
        self._recent_ms: list[float] = []
        self._lag_ms = 0.0
        self.ok = self.refused = self.failed = 0

    def note(self, job: int, intended: float, sent: float, done: float, reply: Reply) -> None:
        """Add one request; times are on the monotonic clock."""
        answer, origin = read_answer(reply), self._origin
        times = (intended - origin, sent - origin, done - origin, answer.retry_after_seconds)
        facts = (job, answer.status, answer.tokens, answer.typed, answer.outcome, answer.revision)
        self._rows.append((*times, *answer.stages_ms, *facts))
        if len(self._rows) == ROWS_AS_TUPLES:
            self._packed.append(from_rows(self._rows))
            self._rows.clear()
        self._count(answer, intended, sent, done)

    def take_recent(self) -> tuple[list[float], float]:
        """Latencies of good answers and the longest lag since the last call, in milliseconds."""
        latencies, self._recent_ms = self._recent_ms, []
        lag, self._lag_ms = self._lag_ms, 0.0
        return latencies, lag

    def records(self) -> Records:
        return merge((*self._packed, from_rows(self._rows)))

    def _count(self, answer: Answer, intended: float, sent: float, done: float) -> None:
        self._lag_ms = max(self._lag_ms, (sent - intended) * 1000)
        if answer.outcome == "ok":
            self.ok += 1
            self._recent_ms.append((done - intended) * 1000)
        elif answer.status in REFUSAL_STATUSES or answer.outcome == TOO_LONG:
            self.refused += 1
        else:
            self.failed += 1
