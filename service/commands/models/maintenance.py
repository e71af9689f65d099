"""`gleaner models verify | gc`: hashes the local store again, and removes what is not needed."""

from __future__ import annotations

import argparse

from model_store.fileio import ProgressCounter
from model_store.local.catalog import Catalog
from model_store.local.garbage_collection import KEEP_LAST, collect_garbage
from model_store.local.verify import CheckOutcome, verify_revision, verify_store
from service.commands.model_stores import store_of
from service.commands.progress import progress_bar


def run_verify(chosen: argparse.Namespace) -> int:
    """Hash all files; exit code 1 if any is missing or damaged."""
    catalog = Catalog(store_of(chosen).root)
    with progress_bar("hashing") as progress:
        if chosen.model:
            revision = catalog.resolve(chosen.model)
            report = verify_revision(revision, ProgressCounter(progress, revision.manifest.size_bytes).add)
        else:
            report = verify_store(catalog.store, ProgressCounter(progress, catalog.store.size_bytes()).add)
    for outcome in (CheckOutcome.MISSING, CheckOutcome.CORRUPT):
        for checked in report.with_outcome(outcome):
            print(f"{outcome.value}: {checked.detail}")
    print(f"{len(report.with_outcome(CheckOutcome.OK))} of {len(report.checked)} files are whole.")
    return 0 if report.intact else 1


def run_gc(chosen: argparse.Namespace) -> int:
    """Collect garbage; exit code 1 if the budget cannot be met."""
    keep_last = KEEP_LAST if chosen.keep is None else chosen.keep
    with progress_bar("removing") as progress:
        collected = collect_garbage(
            store_of(chosen), keep_last=keep_last, budget_bytes=chosen.budget, progress=progress
        )
    for revision in collected.evicted:
        print(f"gone: {revision}")
    print(collected)
    return 0 if collected.within_budget else 1
