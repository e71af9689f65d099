"""`gleaner models canary`: compares a candidate with the revision that is served; promotes or withdraws it.

Each document is posted to `NAME@stable` and to `NAME@candidate` of a running service, one after the other, and the
order alternates. Both answer one document first that is not counted, then all, again and again until each has given a
hundred answers. Exit code 0 when the candidate holds its limits, 1 when it does not.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from model_store.transfer.tag_moves import promote
from service.commands.file_answers import read_key
from service.commands.model_actions import progress_bar, remote_of, store_of
from service.core.canary import LEAST_ANSWERS, LEAST_DOCUMENTS, CanaryAnswer, CanaryLimits, CanaryReport, compare
from service.core.errors import GleanerError, InvalidOptions
from service.remote_service import RemoteService

STABLE, CANDIDATE = "stable", "candidate"


def run_canary(chosen: argparse.Namespace) -> int:
    """Compare, print, and move the tag by the outcome, if the options say so."""
    if chosen.withdraw_only:
        print(promote(chosen.name, store_of(chosen), remote_of(chosen), source=STABLE, target=CANDIDATE))
        return 0
    if chosen.url is None or chosen.documents is None:
        raise InvalidOptions("to compare, give the service's --url and the --documents to post")
    report = asyncio.run(_report(chosen))
    limits = CanaryLimits(errors=chosen.more_errors, slower=chosen.slower, drift=chosen.drift)
    problems = report.problems(limits)
    print("\n".join(lines(report)))
    for problem in problems:
        print(f"not promoted: {problem}", file=sys.stderr)
    if problems and chosen.withdraw:
        print(promote(chosen.name, store_of(chosen), remote_of(chosen), source=STABLE, target=CANDIDATE))
    elif not problems and chosen.promote:
        print(promote(chosen.name, store_of(chosen), remote_of(chosen), source=CANDIDATE, target=STABLE))
    return 1 if problems else 0


def lines(report: CanaryReport) -> list[str]:
    """Format the report as a table."""
    rows = (
        ("errors", *(f"{each:.1%}" for each in report.errors)),
        ("p50, ms", *(f"{each * 1000:.1f}" for each in report.p50_seconds)),
        ("p99, ms", *(f"{each * 1000:.1f}" for each in report.p99_seconds)),
    )
    drifted = sorted(report.drift_by_label, key=lambda each: -each[1])
    return [
        f"{report.documents} answers{'stable':>16}{'candidate':>14}",
        *(f"{name:<12}{stable:>17}{candidate:>14}" for name, stable, candidate in rows),
        f"{report.drift:.1%} of the entities are found by one of the two only"
        + "".join(f"\n  {label:<24}{share:.1%}" for label, share in drifted if share),
    ]


async def _report(chosen: argparse.Namespace) -> CanaryReport:
    paths = sorted(path for path in chosen.documents.rglob("*") if path.is_file())
    if not paths:
        raise InvalidOptions(f"{chosen.documents} has no files")
    if len(paths) >= LEAST_DOCUMENTS:
        paths *= math.ceil(LEAST_ANSWERS / len(paths))
    answers: dict[str, list[CanaryAnswer]] = {STABLE: [], CANDIDATE: []}
    key, options = read_key(chosen.key_file), {} if chosen.labels is None else {"labels": chosen.labels}
    async with (
        RemoteService(chosen.url, {"model": f"{chosen.name}@{STABLE}", **options}, key) as stable,
        RemoteService(chosen.url, {"model": f"{chosen.name}@{CANDIDATE}", **options}, key) as candidate,
    ):
        services = [(STABLE, stable), (CANDIDATE, candidate)]
        for _, service in services:
            await _answer(service, paths[0])
        with progress_bar("comparing") as bar:
            for number, path in enumerate(paths):
                for tag, service in services if number % 2 else reversed(services):
                    answers[tag].append(await _answer(service, path))
                bar(number + 1, len(paths))
    return compare(answers[STABLE], answers[CANDIDATE])


async def _answer(service: RemoteService, path: Path) -> CanaryAnswer:
    begun = time.perf_counter()
    try:
        document = await service.extract(path, path.read_bytes())
    except InvalidOptions:  # The question is wrong, and says nothing of a revision.
        raise
    except GleanerError as error:
        return CanaryAnswer(time.perf_counter() - begun, error=error.code)
    seconds = time.perf_counter() - begun
    if document.get("error"):
        return CanaryAnswer(seconds, error=document["error"]["code"])
    return CanaryAnswer(seconds, frozenset(_entities(document["entities"])))


def _entities(found: Iterable[dict[str, Any]]) -> Iterable[tuple[str, int, int]]:
    return ((each["label"], each["start"], each["end"]) for each in found)
