"""The folder of a result: requests.csv.gz, service.csv, summary.json, report.html; written once, read by `compare`."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec

from loadtest.errors import BadInput
from loadtest.records.records import read_csv, write_csv
from loadtest.report.page import page
from loadtest.results.result import Result, Summary
from loadtest.telemetry.sampler import MetricsSample

REQUESTS, SERVICE, SUMMARY, REPORT = "requests.csv.gz", "service.csv", "summary.json", "report.html"


def write_raw(result: Result, folder: Path) -> None:
    """What was measured, without any judgement."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(result.records, folder / REQUESTS)
    _write_moments(result.moments, folder / SERVICE)


def write_report(result: Result, folder: Path) -> Path:
    """The summary and the report; the path of the report."""
    encoded = msgspec.json.format(msgspec.json.encode(result.summary), indent=1)
    (folder / SUMMARY).write_bytes(encoded + b"\n")
    (folder / REPORT).write_text(page(result))
    return folder / REPORT


def read_result(folder: Path) -> Result:
    """A result without its looks at the service.

    Raises:
        BadInput: the folder holds none.
    """
    try:
        summary = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} holds no result of a load test: {error}") from error
    return Result(summary, read_csv(folder / REQUESTS), ())


def _write_moments(moments: tuple[MetricsSample, ...], path: Path) -> None:
    names = sorted({name for moment in moments for name in moment.values})
    with path.open("w", newline="") as sink:
        rows = csv.writer(sink)
        rows.writerow(["seconds", *names])
        rows.writerows(
            [f"{m.at:.3f}", *(f"{m.values[n]:.6g}" if n in m.values else "" for n in names)] for m in moments
        )
