"""Records: one row per request, kept as columns: when it was due, sent and answered, and what its answer was. Pure.

Times are seconds since the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from loadtest.records.answer import STAGES

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]

REFUSAL_STATUSES = (429, 503, 504)
"""Statuses of a service without capacity or readiness: neither the client's fault nor an error of the service."""
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
        """From the intended time, so that a stall counts for every request that was due in it."""
        found: Floats = (self.done - self.intended) * 1000
        return found

    @property
    def lag_ms(self) -> Floats:
        """How late the generator sent the request."""
        found: Floats = (self.sent - self.intended) * 1000
        return found

    @property
    def ok(self) -> Booleans:
        return np.asarray(self.outcome == "ok", dtype=np.bool_)

    @property
    def refused(self) -> Booleans:
        """True where the status is one of `REFUSAL_STATUSES`."""
        return np.asarray(np.isin(self.status, REFUSAL_STATUSES), dtype=np.bool_)

    @property
    def failed(self) -> Booleans:
        """True where the request was neither answered well nor refused."""
        return np.asarray(~self.ok & ~self.refused, dtype=np.bool_)

    def where(self, chosen: Booleans | Integers) -> Records:
        """The rows of a mask or of indices."""
        return Records(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})

    def between(self, begin: float, end: float) -> Records:
        """The rows that were due in [begin, end)."""
        return self.where(np.asarray((self.intended >= begin) & (self.intended < end), dtype=np.bool_))


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
