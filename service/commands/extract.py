"""`gleaner extract`: prints the entities of files, from an engine of its own or from a running service (`--url`).

A table on a terminal, JSON lines in a pipe or in a file (`--output`), with a progress bar. A file that fails is
reported on stderr, the others go on, and the exit code is 1. Called again with the same `--output`, it goes on. For
very many files there is `gleaner bulk`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from service.commands.file_answers import (
    FORMATS,
    Answer,
    add_file_arguments,
    answers,
    expanded,
    options_of,
    paper_tables,
    record_tables,
    service_of,
    value_of,
)
from service.core.errors import InvalidOptions
from service.core.types import Priority
from service.terminal import draw, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    add_file_arguments(parser, f"{FORMATS}; a folder or a glob: all files in it")
    parser.add_argument("--include-text", action="store_true", default=None, help="with the document's text (JSON)")
    parser.add_argument("--priority", choices=[each.value for each in Priority], help="`batch` yields to `interactive`")
    parser.add_argument(
        "--fields",
        action=argparse.BooleanOptionalAction,
        help="the best value for each role of an invoice, a receipt or a résumé; in a table unless labels are named",
    )
    parser.add_argument("--schema", type=Path, metavar="FILE", help="find the records that this JSON file names")
    parser.add_argument("--output", type=Path, metavar="FILE", help="append JSON lines there, but of files it has")
    parser.add_argument("--unordered", action="store_true", help="each answer as soon as it comes")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Extract and print; returns 1 when a file failed."""
    return asyncio.run(_run(chosen))


async def _run(chosen: argparse.Namespace) -> int:
    as_table = sys.stdout.isatty() and not chosen.json and chosen.output is None
    if chosen.fields is None and as_table and not chosen.labels and chosen.schema is None:
        chosen.fields = True
    failed, files = 0, expanded(chosen.files)
    if chosen.output is not None:
        there = answered_files(chosen.output)
        files = [path for path in files if str(path) not in there and path != chosen.output]
    if not files:
        return 0
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    output = nullcontext(sys.stdout) if chosen.output is None else chosen.output.open("a", errors="backslashreplace")
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar as progress, output as lines:
        task = progress.add_task("starting", total=len(files))
        async for path, answer in _answers(chosen, files, lambda text: progress.update(task, description=text)):
            progress.update(task, advance=1, description="extracting")
            if answer["error"] is not None:
                failed += 1
                say(f"{path}: {answer['error']['detail']}")
            if as_table:
                draw(Text(str(path), style="bold"))
                tables = *paper_tables(answer.get("papers")), *record_tables(answer.get("records"))
                for table in (*tables, _entity_table(answer)):
                    draw(table)
            else:
                print(json.dumps({"file": str(path), **answer}, ensure_ascii=False), flush=True, file=lines)
    return 1 if failed else 0


def answered_files(output: Path) -> set[str]:
    """List the files that a file of JSON lines has answers to; removes a last line that was cut off.

    Raises:
        InvalidOptions: the file cannot be read, or is of another kind.
    """
    try:
        output.touch()
        with output.open("r+b") as file:
            found, end = set[str](), 0
            for line in file:
                if line.endswith(b"\n"):
                    found.add(json.loads(line)["file"])
                    end += len(line)
            file.truncate(end)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InvalidOptions(f"{output} is no file of this command's answers: {error}.") from error
    return found


async def _answers(
    chosen: argparse.Namespace, files: list[Path], report: Callable[[str], None]
) -> AsyncIterator[tuple[Path, Answer]]:
    """Yield each file with its answer; `report` gets the progress in words."""
    names = ("model", "labels", "overlaps", "min_score", "aggregation", "ocr", "include_text", "priority", "fields")
    options = options_of(chosen, names) | read_schema_file(chosen.schema)
    async with service_of(chosen, options, report) as service:
        report("extracting")
        async for path, answer in answers(files, service.extract, chosen.type, in_order=not chosen.unordered):
            yield path, answer


def read_schema_file(file: Path | None) -> dict[str, Any]:
    """Read the option `schema` from a file; no option without a file.

    Raises:
        InvalidOptions: the file cannot be read, or is no JSON.
    """
    try:
        return {} if file is None else {"schema": json.loads(file.read_bytes())}
    except (OSError, ValueError) as error:
        raise InvalidOptions(f"The schema in {file} cannot be read: {error}.") from error


def _entity_table(answer: Answer) -> Table:
    table = Table(title="entities", title_justify="left", box=None, pad_edge=False)
    for column in ("label", "value", "page", "start", "end", "score"):
        table.add_column(column, justify="left" if column in ("label", "value") else "right")
    for entity in answer["entities"]:
        page = "" if entity["page"] is None else str(entity["page"])
        numbers = (str(entity["start"]), str(entity["end"]), f"{entity['score']:.3f}")
        table.add_row(entity["label"], value_of(entity), page, *numbers)
    return table
