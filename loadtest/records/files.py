"""Files of records: `requests.csv.gz` for people, .npz between processes."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import fields
from pathlib import Path

import numpy as np

from loadtest.errors import BadInput
from loadtest.records.records import COLUMNS, COUNTS, NUMBERS, WORDS, Records, from_rows


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
