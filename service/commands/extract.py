"""`gleaner extract`: prints the entities of files, from an engine of its own or from a running service (`--url`).

A table on a terminal, JSON lines in a pipe, with a progress bar. A file that fails is reported on stderr, the others
go on, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.core.decoding.aggregation_strategies import Aggregation
from service.core.errors import GleanerError

if TYPE_CHECKING:
    from service.commands.local_service import LocalService
    from service.commands.remote_service import RemoteService

AT_ONCE = 8
"""Files that are extracted at the same time, so that batches fill."""
Answer = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="PDF, DOCX, HTML, TXT or MD")
    parser.add_argument("--url", help="ask this running service, e.g. http://127.0.0.1:8080")
    parser.add_argument("--key-file", type=Path, help="the file with its API key")
    parser.add_argument("--model", help="`name`, `name@tag` or `name@sha256:…`")
    parser.add_argument("--labels", help="keep only these, comma-separated")
    parser.add_argument("--min-score", type=float, help="keep only entities with at least this score")
    parser.add_argument("--aggregation", choices=[each.value for each in Aggregation])
    parser.add_argument("--include-text", action="store_true", default=None, help="with the document's text (JSON)")
    parser.add_argument("--json", action="store_true", help="JSON lines even on a terminal")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Extract and print; exit code 1 when a file failed."""
    return asyncio.run(_run(chosen))


async def _run(chosen: argparse.Namespace) -> int:
    as_table = sys.stdout.isatty() and not chosen.json
    failed = 0
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting", total=len(chosen.files))
        async for path, answer in _answers(chosen, lambda text: progress.update(task, description=text)):
            progress.update(task, advance=1, description="extracting")
            if answer["error"] is not None:
                failed += 1
                print(f"gleaner: {path}: {answer['error']['detail']}", file=sys.stderr)
            if as_table:
                Console().print(_table(path, answer))
            else:
                print(json.dumps({"file": str(path), **answer}, ensure_ascii=False), flush=True)
    return 1 if failed else 0


async def _answers(chosen: argparse.Namespace, report: Callable[[str], None]) -> AsyncIterator[tuple[Path, Answer]]:
    """Each file with its answer, in the order given, `AT_ONCE` at a time; `report` gets the progress in words."""
    names = ("model", "labels", "min_score", "aggregation", "include_text")
    options = {name: value for name in names if (value := getattr(chosen, name)) is not None}
    async with AsyncExitStack() as stack:
        service = _service(chosen, options, report)
        await stack.enter_async_context(service)
        report("extracting")
        gate = asyncio.Semaphore(AT_ONCE)
        tasks = [asyncio.create_task(_ask(service, path, gate)) for path in chosen.files]
        for path, task in zip(chosen.files, tasks, strict=True):
            yield path, await task


def _service(
    chosen: argparse.Namespace, options: dict[str, Any], report: Callable[[str], None]
) -> RemoteService | LocalService:
    """The service to ask. Imported here, because the workers' code takes half a second."""
    if chosen.url:
        from service.commands.remote_service import RemoteService, key_in

        return RemoteService(chosen.url, options, key_in(chosen.key_file))
    from service.commands.local_service import LocalService

    return LocalService(options, report)


async def _ask(service: RemoteService | LocalService, path: Path, gate: asyncio.Semaphore) -> Answer:
    async with gate:
        try:
            return await service.extract(path, await asyncio.to_thread(path.read_bytes))
        except GleanerError as error:
            return {"id": path.name, "entities": [], "error": {"code": error.code, "detail": error.detail}}
        except OSError as error:
            detail = f"The file cannot be read: {error.strerror}."
            return {"id": path.name, "entities": [], "error": {"code": "unreadable_file", "detail": detail}}


def _table(path: Path, answer: Answer) -> Table:
    table = Table(title=str(path), title_justify="left", box=None, pad_edge=False)
    for column in ("label", "value", "page", "start", "end", "score"):
        table.add_column(column, justify="left" if column in ("label", "value") else "right")
    for entity in answer["entities"]:
        page = "" if entity["page"] is None else str(entity["page"])
        numbers = (str(entity["start"]), str(entity["end"]), f"{entity['score']:.3f}")
        table.add_row(entity["label"], " ".join(entity["value"].split()), page, *numbers)
    return table
