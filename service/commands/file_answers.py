"""File answers for `gleaner extract` and `gleaner redact`: sends files to a service, yields its answers in order."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from service.bulk.inputs import files_below, matching
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.spans import Overlaps
from service.core.errors import GleanerError, InvalidOptions
from service.core.types import Ocr
from service.environment import service_url

if TYPE_CHECKING:
    from service.local_service import LocalService
    from service.remote_service import RemoteService

STANDARD_INPUT = Path("-")
FORMATS = "PDF, DOCX, HTML, TXT, MD, XML invoice, hOCR, ALTO, Textract's JSON, or JSON of pages of words; `-`: stdin"
TYPES = ("pdf", "docx", "html", "txt", "md", "xml")
AT_ONCE = 8
"""Files worked on at the same time, so that batches fill."""
WINDOW = 8 * AT_ONCE
"""Most files begun, or answered behind an unanswered one, so that few answers are kept in memory."""
Answer = dict[str, Any]


def add_file_arguments(parser: argparse.ArgumentParser, help: str = FORMATS) -> None:
    """Add the files, and the arguments for the service and the entities."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=help)
    parser.add_argument("--type", choices=TYPES, help="what stdin holds, where its content does not say it")
    parser.add_argument("--json", action="store_true", help="JSON lines even on a terminal")
    add_service_arguments(parser)


def add_service_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the service and the entities."""
    parser.add_argument(
        "--url", type=service_url, help="ask this running service (127.0.0.1:8080) rather than start one for 10 to 20 s"
    )
    parser.add_argument("--key-file", type=Path, help="the file with its API key")
    parser.add_argument("--model", help="`name`, `name@tag` or `name@sha256:…`")
    parser.add_argument(
        "--labels",
        help="only entities with these, comma-separated; what a model with free labels is to find, also as JSON",
    )
    parser.add_argument("--overlaps", choices=[each.value for each in Overlaps], help="of free labels")
    parser.add_argument("--min-score", help="only entities with at least this score (0.5, or PERSON:0.8,0.5)")
    parser.add_argument("--aggregation", choices=[each.value for each in Aggregation])
    parser.add_argument("--ocr", choices=[each.value for each in Ocr], help="recognize text in pictures of pages")


def options_of(chosen: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Collect the options that were given, by name."""
    return {name: value for name in names if (value := getattr(chosen, name)) is not None}


def service_of(
    chosen: argparse.Namespace,
    options: dict[str, Any],
    report: Callable[[str], None] = lambda _: None,
    *,
    redacts: bool = False,
) -> RemoteService | LocalService:
    """Make the service to ask; imported here, because the workers' code takes half a second."""
    if chosen.url:
        from service.remote_service import RemoteService

        return RemoteService(chosen.url, options, read_key(chosen.key_file))
    from service.api.options import ExtractOptions
    from service.api.redaction.schemas import RedactOptions
    from service.local_service import LocalService, settings_for

    return LocalService(options, report, settings_for(options), RedactOptions if redacts else ExtractOptions)


def read_key(file: Path | None) -> str | None:
    """Read the API key in a file.

    Raises:
        InvalidOptions: the file cannot be read.
    """
    try:
        return file.read_text().strip() if file else None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidOptions(f"The key in {file} cannot be read: {error}.") from error


def expanded(given: Iterable[Path]) -> list[Path]:
    """Expand folders and globs to files in their place; other names stay, and fail later if there is no file.

    Raises:
        InvalidOptions: a folder cannot be listed.
    """
    found: list[Path] = []
    for path in given:
        for each in matching(str(path)) if path != STANDARD_INPUT else []:
            found.extend(map(Path, files_below(each)) if Path(each).is_dir() else [Path(each)])
        if path == STANDARD_INPUT or not matching(str(path)):
            found.append(path)
    return found


async def answers(
    files: list[Path],
    ask: Callable[[Path, bytes], Awaitable[Answer]],
    stdin_type: str | None = None,
    *,
    in_order: bool = True,
) -> AsyncIterator[tuple[Path, Answer]]:
    """Yield each file with its answer, in order or as they come, `AT_ONCE` at a time, at most `WINDOW` ahead.

    Raises:
        InvalidOptions: standard input is named twice.
    """
    if files.count(STANDARD_INPUT) > 1:
        raise InvalidOptions("standard input (`-`) can be read once")
    gate = asyncio.Semaphore(AT_ONCE)
    begun: dict[asyncio.Task[Answer], Path] = {}
    left = iter(files)
    while True:
        for path in islice(left, WINDOW - len(begun)):
            begun[asyncio.create_task(_answer(ask, path, gate, stdin_type))] = path
        if not begun:
            return
        first = next(iter(begun))
        done = {first} if in_order else (await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED))[0]
        for task in done:
            yield begun.pop(task), await task


async def _answer(
    ask: Callable[[Path, bytes], Awaitable[Answer]], path: Path, gate: asyncio.Semaphore, stdin_type: str | None
) -> Answer:
    async with gate:
        try:
            if path == STANDARD_INPUT:
                name = Path(f"stdin.{stdin_type}" if stdin_type else "stdin")
                return await ask(name, await asyncio.to_thread(sys.stdin.buffer.read))
            return await ask(path, await asyncio.to_thread(path.read_bytes))
        except GleanerError as error:
            return {"id": path.name, "entities": [], "error": {"code": error.code, "detail": error.detail}}
        except OSError as error:
            detail = f"The file cannot be read: {error.strerror}."
            return {"id": path.name, "entities": [], "error": {"code": "unreadable_file", "detail": detail}}


_LISTS = {
    "line_items": ("description", "quantity", "unit_price", "amount"),
    "taxes": ("rate", "base", "amount"),
    "parties": ("name", "called"),
    "jobs": ("title", "employer", "dates"),
    "educations": ("degree", "school", "dates"),
}


_SUREST = 0.999
"""Highest score that is shown of a value that was read: nothing that was read is certain."""


def paper_tables(papers: list[Answer] | None) -> Iterator[Table]:
    """Yield a table of each paper's roles, and one of each list that is not empty; else only the paper's name."""
    for paper in papers or []:
        if paper["fields"] is None:
            yield _table(None, (f"{_name(paper)}: no bill, contract or résumé, without fields",))
        else:
            yield from _field_tables(_name(paper), paper["fields"])


def _name(paper: Answer) -> str:
    """Say what a paper is, its title and its pages."""
    first, last = paper["pages"] or (None, None)
    pages = first and (f"page {first}" if first == last else f"pages {first} to {last}")
    kind = _words(paper["kind"] or "paper of no known kind")
    return ", ".join(filter(None, (kind, paper["title"], pages)))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _field_tables(name: str, fields: Answer) -> Iterator[Table]:
    roles = _table(name, ("role", "value", "score", "reason"))
    for each in (fields.get("embedded") or {}).get("contradictions", []):
        said = f"{_words(each['role'])}: the page says {_folded(each['page']['text'])}, the XML {each['embedded']}"
        roles.add_row("contradiction", Text(said), "", "", style="bold red")
    for role, choice in fields["roles"].items():
        is_stated = choice["reason"] == "embedded"
        score = choice["score"] if is_stated else min(choice["score"], _SUREST)
        reason = choice["reason"] if choice["text"] or is_stated else f"computed, by {choice['reason']}"
        roles.add_row(_words(role), _cell(choice), f"{score:.3f}", reason)
    for name in ("skills", "languages"):
        if fields.get(name):
            roles.add_row(name, _cell(fields[name]), "", "")
    for check in fields.get("checks", []):
        roles.add_row("check", _check(check), "", "", style="" if check["holds"] else "red")
    yield roles
    for name, columns in _LISTS.items():
        if fields.get(name):
            table = _table(_words(name), tuple(map(_words, columns)))
            for row in fields[name]:
                table.add_row(*(_cell(row[column]) for column in columns))
            yield table


def _check(check: Answer) -> str:
    """Say what a check compares, the amounts of its lines, and whether it holds."""
    lines = ", ".join(f"{_words(line['name'])} {line['amount']}" for line in check.get("lines", []))
    rule = f"{_words(check['rule'])} ({lines})" if lines else _words(check["rule"])
    return f"{rule}: {'yes' if check['holds'] else 'no, the difference is ' + check['difference']}"


def record_tables(records: dict[str, list[Answer]] | None) -> Iterator[Table]:
    """Yield a table of the records of each kind."""
    for kind, found in (records or {}).items():
        if found:
            table = _table(kind, [*found[0]["fields"], "score"])
            for each in found:
                table.add_row(*map(_cell, each["fields"].values()), f"{each['score']:.3f}")
            yield table


def _table(title: str | None, columns: Sequence[str]) -> Table:
    return Table(*columns, title=title, title_justify="left", box=None, pad_edge=False)


def _cell(found: Any) -> Text:
    """Show a value or several."""
    if isinstance(found, list):
        return Text(", ".join(map(value_of, found)))
    return Text("" if found is None else value_of(found))


def value_of(entity: Answer) -> str:
    """Format an entity's value, with its doubts."""
    value = _folded(entity["value"])
    if entity.get("kind") == "percent":
        value = f"{value} %"
    if entity.get("ambiguous"):
        return f"{value} ({' or '.join(entity['ambiguous'])})"
    return f"{value} (invalid)" if entity.get("valid") is False else value


def _folded(text: str) -> str:
    return " ".join(text.split())
