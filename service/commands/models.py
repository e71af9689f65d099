"""`gleaner models`: publish a folder into the local store, list what is there, verify it byte by byte."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from model_store.catalog import Catalog
from model_store.golden import read_golden
from model_store.manifest import Provenance
from model_store.publish import publish
from model_store.reference import DEFAULT_TAG
from model_store.verify import Outcome, verify_revision, verify_store
from service.settings import read_settings

PIPE_WIDTH = 200
Report = Callable[[int, int], None]


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("models", help="publish, list and verify models", description=__doc__)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    store = argparse.ArgumentParser(add_help=False)
    store.add_argument("--store", type=Path, help="instead of GLEANER_MODEL_STORE")
    _add_publish(actions, store)
    actions.add_parser("list", parents=[store], help="what is there").set_defaults(run=run_list)
    verify = actions.add_parser("verify", parents=[store], help="hash everything again")
    verify.add_argument("model", nargs="?", help="`name`, `name@tag` or `name@sha256:…`; all if absent")
    verify.set_defaults(run=run_verify)


def _add_publish(actions: Any, store: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("publish", parents=[store], help="store a Hugging Face folder under a name")
    parser.add_argument("folder", type=Path, metavar="DIR", help="config.json, tokenizer.json, *.safetensors")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--tag", default=DEFAULT_TAG, help=f"what to call this revision (default: {DEFAULT_TAG})")
    parser.add_argument("--golden", type=Path, help="JSON lines of examples that the model must get right")
    for name in ("base-model", "data", "commit"):
        parser.add_argument(f"--{name}", help="provenance, kept in the manifest")
    parser.set_defaults(run=run_publish)


def run_publish(chosen: argparse.Namespace) -> int:
    """Publish a folder and say what was done."""
    provenance = Provenance(base_model=chosen.base_model, data=chosen.data, commit=chosen.commit)
    golden = read_golden(chosen.golden) if chosen.golden else ()
    with _progress("publishing") as report:
        published = publish(
            chosen.folder,
            chosen.name,
            _catalog(chosen).store,
            tag=chosen.tag,
            provenance=provenance,
            golden=golden,
            progress=report,
        )
    print(published)
    for left_out in published.left_out:
        print(f"left out: {left_out}")
    return 0


def run_list(chosen: argparse.Namespace) -> int:
    """One line for each revision."""
    table = Table(box=None, pad_edge=False)
    for column in ("model", "tags", "revision", "size", "shared", ""):
        table.add_column(column, no_wrap=True, justify="right" if column in ("size", "shared") else "left")
    for model in _catalog(chosen).list():
        note = model.problem or ("built in" if model.built_in else "")
        sizes = (f"{size / 1e6:,.1f} MB" for size in (model.size_bytes, model.shared_bytes))
        table.add_row(model.name, ",".join(model.tags), model.revision, *sizes, note)
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)
    return 0


def run_verify(chosen: argparse.Namespace) -> int:
    """Hash again; exit code 1 when something is missing or damaged."""
    catalog = _catalog(chosen)
    report = verify_revision(catalog.resolve(chosen.model)) if chosen.model else verify_store(catalog.store)
    for outcome in (Outcome.MISSING, Outcome.CORRUPT):
        for checked in report.having(outcome):
            print(f"{outcome.value}: {checked.detail}")
    print(f"{len(report.having(Outcome.OK))} of {len(report.checked)} files are whole.")
    return 0 if report.sound else 1


def _catalog(chosen: argparse.Namespace) -> Catalog:
    return Catalog(chosen.store or read_settings().model_store)


@contextmanager
def _progress(verb: str) -> Iterator[Report]:
    columns = (TextColumn(verb), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(verb, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
