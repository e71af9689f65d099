"""The folder of a result: requests.csv.gz, service.csv, summary.json and report.html, read again by `compare`."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec

from loadtest.errors import BadInput
from loadtest.records.files import read_csv, write_csv
from loadtest.report.page import page
from loadtest.results.result import Result, Summary
from loadtest.telemetry.sampler import MetricsSample

REQUESTS, SERVICE, SUMMARY, REPORT = "requests.csv.gz", "service.csv", "summary.json", "report.html"


def write_raw(result: Result, folder: Path) -> None:
    """Write the records and the metrics samples."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(result.records, folder / REQUESTS)
    _write_samples(result.samples, folder / SERVICE)


def write_report(result: Result, folder: Path) -> Path:
    """Write the summary and the report; returns the report's path."""
    encoded = msgspec.json.format(msgspec.json.encode(result.summary), indent=1)
    (folder / SUMMARY).write_bytes(encoded + b"\n")
    (folder / REPORT).write_text(page(result))
    return folder / REPORT


def read_result(folder: Path) -> Result:
    """The result in a folder, without its metrics samples.

    Raises:
        BadInput: the folder has none.
    """
    try:
        summary = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} holds no result of a load test: {error}") from error
    return Result(summary, read_csv(folder / REQUESTS), ())


def _write_samples(samples: tuple[MetricsSample, ...], path: Path) -> None:
    names = sorted({name for sample in samples for name in sample.values})
    with path.open("w", newline="") as sink:
        rows = csv.writer(sink)
        rows.writerow(["seconds", *names])
        rows.writerows(
            [f"{each.at:.3f}", *(f"{each.values[n]:.6g}" if n in each.values else "" for n in names)]
            for each in samples
        )
