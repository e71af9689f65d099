"""`gleaner evaluate`: scores a model on labelled documents, texts or files, as the service would answer them.

By set, label, language and kind of document, with intervals over groups, kinds of errors, the calibration of scores,
and fields where the truth has them.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from model_store.builtin import NAME
from model_store.contents.allowed_files import RULES
from model_store.families.family import CONFIG
from model_store.families.registry import FAMILIES, family_name
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.api.extraction.request import DocumentInput
from service.api.options import read_options
from service.core.errors import InvalidOptions, Overloaded, RequestError
from service.evaluation.data_check import label_counts
from service.evaluation.document_files import is_folder_of_files, read_document_files
from service.evaluation.labelled_documents import (
    MAPPING_FILE,
    BadRecords,
    LabelledDocument,
    LabelledSet,
    LabelScheme,
    left_out,
    limited,
    nearest_scheme,
    read_scheme,
    read_sets,
    repeated_texts,
)
from service.evaluation.record_text import pages_json
from service.evaluation.report import EvaluationReport, all_together, set_report
from service.evaluation.scoring import ScoredAnswer, from_answer, score_set
from service.evaluation.span_scores import overlapped
from service.evaluation.tables import ReportTable, tables
from service.local_service import LocalService
from service.terminal import draw, printable, say
from service.text.pipeline import answered_labels

BUILTIN = "builtin"
FOLDER_NAME = "evaluated"
"""Name under which a folder is published to a temporary store."""
OPTIONS = {"fields": True}
UNHURRIED = {"deadline_ms": str(24 * 3_600_000), "max_queue_ms": "0"}
"""Settings of the service that is asked: a slow machine's refusals are no misses of the model."""
AT_ONCE = 16
"""Documents asked for at the same time, so that batches fill."""
ATTEMPTS, PAUSE_SECONDS = 6, 2.0
"""Tries of a document that a busy machine refuses, and seconds before each further try."""


class AnsweringService(Protocol):
    """A service that answers documents."""

    async def answer(self, document: DocumentInput) -> dict[str, Any]:
        """Answer one document. Raises RequestError or Overloaded to refuse it."""


OnProgress = Callable[[str, int, int], None]
"""Function of (present step, documents done, all documents)."""


@contextmanager
def evaluated_service(model: str, report: Callable[[str], None]) -> Iterator[LocalService]:
    """Make a service of this model, with the decoding, windows and precision of `gleaner serve`; the caller enters it.

    Raises:
        StoreError: the folder is no model, or there is no model of this name.
    """
    with TemporaryDirectory(prefix="gleaner-evaluate-") as store:
        if model == BUILTIN:
            settings = {"models": NAME, "model_store": store, "model_remote": ""}
        elif "/" in model or (Path(model) / CONFIG).is_file():
            report("taking the folder")
            publish(Path(model), FOLDER_NAME, Store(Path(store)))
            settings = {"models": FOLDER_NAME, "model_store": store, "model_remote": ""}
        else:
            settings = {"models": model}
        yield LocalService(OPTIONS, report, settings | UNHURRIED)


async def ask_all(
    service: AnsweringService, sets: Sequence[LabelledSet], show: OnProgress, *, pause_seconds: float = PAUSE_SECONDS
) -> list[list[ScoredAnswer]]:
    """Ask for the answers to each set's documents, in their order.

    Raises:
        ServiceError: the engine failed, or died.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    total, done = sum(len(each.documents) for each in sets), 0

    async def ask(name: str, document: LabelledDocument) -> ScoredAnswer:
        nonlocal done
        async with gate:
            found = await _ask(service, document, pause_seconds)
        done += 1
        show(name, done, total)
        return found

    return [list(await asyncio.gather(*(ask(each.name, document) for document in each.documents))) for each in sets]


async def _ask(service: AnsweringService, document: LabelledDocument, pause_seconds: float) -> ScoredAnswer:
    """Ask about one document; a refused one counts as without entities. Failures of the service are raised."""
    asked = DocumentInput(document.id, text=document.text)
    if document.file is not None:
        asked = DocumentInput(document.id, data=document.file.read_bytes(), name=document.file.name)
    elif document.placed is not None and document.placed.words is not None:
        asked = DocumentInput(document.id, pages=msgspec.Raw(pages_json(document.placed)))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return from_answer(await service.answer(asked))
        except Overloaded as error:
            refused = error.code
            if attempt < ATTEMPTS:
                await asyncio.sleep(pause_seconds)
        except RequestError as error:
            refused = error.code
            break
    return ScoredAnswer((), {}, refused=refused)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    parser.add_argument("model", metavar="MODEL", help=f"a model's folder, a name in the store, or `{BUILTIN}`")
    parser.add_argument(
        "data",
        nargs="+",
        type=Path,
        metavar="DATA",
        help="JSON lines (see `gleaner data --help`), folders of them, or folders of files (PDF, picture, HTML), each "
        'beside a JSON file: {"document": "a.pdf", "kind": "invoice", "roles": {"total_amount": "119.00"}}',
    )
    parser.add_argument(
        "--mapping", type=Path, help="labels of the sets → labels of the model (MAPPING.json beside DATA)"
    )
    parser.add_argument("--sets", help="only these sets, comma-separated; a set is named as its file")
    parser.add_argument(
        "--left-out",
        type=float,
        metavar="PERCENT",
        help="only the groups that training left out: 15 for `gleaner train`, 12 for the built-in model",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only so many documents of each set, of all groups in turn"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--out", type=Path, help="write the JSON to this file as well")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Evaluate and print; returns the exit code."""
    if chosen.limit is not None and chosen.limit < 1:
        raise InvalidOptions("--limit takes a number of documents, such as 100")
    if chosen.left_out is not None and not 0 < chosen.left_out < 100:
        raise InvalidOptions("--left-out takes a percentage, such as 12")
    if chosen.out is not None and not chosen.out.absolute().parent.is_dir():
        raise InvalidOptions(f"--out: there is no folder {chosen.out.absolute().parent}")
    scheme = read_scheme(chosen.mapping) if chosen.mapping else nearest_scheme(chosen.data)
    sets = _chosen_sets(chosen, read_data(chosen.data, scheme))
    with _progress() as show:
        report = asyncio.run(_evaluate(chosen.model, sets, scheme, show))
    if chosen.out:
        chosen.out.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    if chosen.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        for table in tables(report):
            print(f"\n{table.title}")
            draw(_drawn(table))
    return 0


def read_data(paths: Sequence[Path], scheme: LabelScheme) -> list[LabelledSet]:
    """Read sets of texts, then sets of files. Raises BadRecords."""
    folders = [path for path in paths if is_folder_of_files(path)]
    texts = [path for path in paths if path not in folders]
    sets = read_sets(texts, scheme) if texts else []
    return [*sets, *(each for folder in folders for each in read_document_files(folder))]


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """Show a bar on stderr; without a terminal, a line for each set."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda what, done, total: progress.update(task, description=printable(what), completed=done, total=total)


def _lines() -> OnProgress:
    said = ""

    def say(what: str, done: int, total: int) -> None:
        nonlocal said
        if what != said:
            said = what
            print(f"{what} ({done:,} of {total:,} done)" if total else what, file=sys.stderr, flush=True)

    return say


def _chosen_sets(chosen: argparse.Namespace, sets: Sequence[LabelledSet]) -> list[LabelledSet]:
    names = chosen.sets.split(",") if chosen.sets else [each.name for each in sets]
    if unknown := set(names) - {each.name for each in sets}:
        raise InvalidOptions(f"--sets: there is no {', '.join(sorted(unknown))}.")
    kept = [each for each in sets if each.name in names]
    if chosen.left_out is not None:
        repeated = repeated_texts(kept)
        kept = [left_out(each, chosen.left_out, at_least_one=chosen.model != BUILTIN) for each in kept]
        for each in kept:
            if not each.documents:
                _warn(f"{each.name} is not scored: no group of it was left out")
        if repeated:
            _warn(f"{repeated:,} documents have the text of an earlier one; equal texts are all left out or all not")
    if chosen.limit is not None:
        kept = [limited(each, chosen.limit) for each in kept]
    if not any(each.documents for each in kept):
        raise BadRecords(["No document is left to be scored: no set has a group small enough to be left out."])
    return [each for each in kept if each.documents]


async def _evaluate(model: str, sets: Sequence[LabelledSet], scheme: LabelScheme, show: OnProgress) -> EvaluationReport:
    """Ask for all documents, then score."""
    begun = time.monotonic()
    with evaluated_service(model, lambda what: show(what, 0, 0)) as service:
        async with service:
            name = service.model
            overlaps = (f"{each.name}: {note}" for each in sets for note in overlap_notes(each))
            known = answered_labels(name.labels, has_rules=(Path(name.folder) / RULES).is_file())
            has_labels = FAMILIES[family_name(Path(name.folder))].has_labels
            lacking = labels_lacking(sets, known) if has_labels else []
            for sentence in (*lacking, *overlaps):
                _warn(sentence)
            if has_labels:
                answers = await ask_all(service, sets, show)
            else:
                answers = [found for each in sets for found in await _ask_with_labels(service, each, show)]
    seconds = time.monotonic() - begun
    scores, reports = [], []
    for number, (each, found) in enumerate(zip(sets, answers, strict=True)):
        show(f"scoring {each.name}", number, len(sets))
        scores.append(score_set(each, found, scheme))
        refused = Counter(answer.refused for answer in found if answer.refused)
        notes = [*overlap_notes(each), *(f"{count} refused: {code}" for code, count in refused.items())]
        reports.append(set_report(scores[-1], notes=notes))
    tokens = sum(answer.tokens for found in answers for answer in found)
    return all_together(f"{name.name}@{name.tag}", name.revision, reports, scores, tokens=tokens, seconds=seconds)


async def _ask_with_labels(service: LocalService, asked: LabelledSet, show: OnProgress) -> list[list[ScoredAnswer]]:
    """Ask a model with free labels for the labels of a set."""
    service.options = read_options({"labels": sorted(asked.labels)})
    return await ask_all(service, [asked], show)


def labels_lacking(sets: Iterable[LabelledSet], known: Sequence[str]) -> list[str]:
    """Write a sentence for each set with labels that the model lacks, whose entities are all missed."""
    said = []
    for each in sets:
        counts = label_counts(each.documents)
        if lacking := [f"{label} ({count:,})" for label, count in counts.most_common() if label not in known]:
            said.append(
                f"{each.name} has entities of labels that the model does not have: {', '.join(lacking)}. "
                f"A {MAPPING_FILE} beside the data translates labels: "
                f'{{"map": {{"{each.name}": {{"THEIRS": "OURS", "OTHER": null}}}}, "coarse_parent": {{}}}}. '
                f"The model has {', '.join(sorted(known))}."
            )
    return said


def _warn(sentence: str) -> None:
    say(f"warning: {sentence}")


def overlap_notes(labelled: LabelledSet) -> list[str]:
    """Write a note on the entities of the truth that are not scored, if any."""
    count = sum(overlapped(document.spans, labelled.labels) for document in labelled.documents)
    return (
        [f"{count:,} entities not scored: a model finds one of those that overlap, so the first counts"]
        if count
        else []
    )


def _drawn(table: ReportTable) -> Table:
    drawn = Table(box=None, pad_edge=False)
    for column, name in enumerate(table.head):
        drawn.add_column(name, justify="right" if column > 0 and name not in ("note", "role") else "left")
    for row in table.rows:
        drawn.add_row(*row)
    return drawn
