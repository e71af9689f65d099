"""`gleaner models verify | gc`: what keeps the local store sound and small."""

from __future__ import annotations

import argparse

from model_store.local.catalog import Catalog
from model_store.local.collect import KEEP_LAST, collect
from model_store.local.verify import Outcome, verify_revision, verify_store
from model_store.progress import Meter
from service.commands.model_stores import store_of
from service.commands.progress import progress_bar


def run_verify(chosen: argparse.Namespace) -> int:
    """Hash again; exit code 1 when something is missing or damaged."""
    catalog = Catalog(store_of(chosen).root)
    with progress_bar("hashing") as progress:
        if chosen.model:
            revision = catalog.resolve(chosen.model)
            report = verify_revision(revision, Meter(progress, revision.manifest.size_bytes).advance)
        else:
            report = verify_store(catalog.store, Meter(progress, catalog.store.size_bytes()).advance)
    for outcome in (Outcome.MISSING, Outcome.CORRUPT):
        for checked in report.having(outcome):
            print(f"{outcome.value}: {checked.detail}")
    print(f"{len(report.having(Outcome.OK))} of {len(report.checked)} files are whole.")
    return 0 if report.sound else 1


def run_gc(chosen: argparse.Namespace) -> int:
    """Clean up; exit code 1 when the budget cannot be met."""
    keep_last = KEEP_LAST if chosen.keep is None else chosen.keep
    with progress_bar("removing") as progress:
        collected = collect(store_of(chosen), keep_last=keep_last, budget_bytes=chosen.budget, progress=progress)
    for revision in collected.evicted:
        print(f"gone: {revision}")
    print(collected)
    return 0 if collected.within_budget else 1
