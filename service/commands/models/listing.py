"""`gleaner models list`: prints one line for each revision, in the local and in the remote store."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from model_store.listing import ListedModel, sort_key
from model_store.local.catalog import Catalog
from model_store.remote.listing import list_remote
from service.commands.model_stores import remote_of, store_of

PIPE_WIDTH = 220
COLUMNS = ("model", "tags", "revision", "size", "own", "shared", "where", "")
NUMBERS = ("size", "own", "shared")


def run_list(chosen: argparse.Namespace) -> int:
    """Print the table; a revision that is in both places with the same tags takes one line."""
    remote = remote_of(chosen)
    here = Catalog(store_of(chosen).root).list()
    there = list_remote(remote) if remote else ()
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, no_wrap=True, justify="right" if column in NUMBERS else "left")
    for model, where in merged(here, there):
        own_bytes = model.size_bytes - model.shared_bytes
        sizes = (f"{size / 1e6:,.1f} MB" for size in (model.size_bytes, own_bytes, model.shared_bytes))
        table.add_row(model.name, ",".join(model.tags), model.revision, *sizes, where, model.problem or "")
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)
    return 0


def merged(here: Sequence[ListedModel], there: Sequence[ListedModel]) -> Iterator[tuple[ListedModel, str]]:
    """All lines, sorted, each with its place. Sizes are the local store's, if it has the revision."""
    remote = {_key(model): model for model in there}
    lines = []
    for model in here:
        both = remote.pop(_key(model), None) is not None
        lines.append((model, "built in" if model.built_in else "here, remote" if both else "here"))
    lines += [(model, "remote") for model in remote.values()]
    yield from sorted(lines, key=lambda line: sort_key(line[0]))


def _key(model: ListedModel) -> tuple[str, str, tuple[str, ...]]:
    return model.name, model.revision, model.tags
