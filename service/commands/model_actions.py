"""Actions of `gleaner models`: publishes, pulls, lists, verifies, rolls back and cleans up, locally and remotely.

The command's options name the stores, else the settings. Progress in bytes is shown only on a terminal.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from model_store.contents.allowed_files import RULES
from model_store.contents.scan import ScannedFolder, license_of, scan_folder
from model_store.errors import InvalidGolden, InvalidReference, InvalidRemote, NoEarlierRevision
from model_store.fileio import ProgressCounter, no_progress
from model_store.listing import ListedModel, sort_key
from model_store.local.catalog import BUILTIN_ROOT, Catalog, builtin_names
from model_store.local.garbage_collection import KEEP_LAST, collect_garbage, remove_untagged
from model_store.local.store import Revision, Store
from model_store.local.tags import set_tag
from model_store.local.verify import CheckOutcome, verify_revision, verify_store
from model_store.manifest import GoldenEntity, GoldenExample, GoldenPage, Provenance
from model_store.reference import check_revision, parse_reference
from model_store.remote.base import Remote
from model_store.remote.listing import list_remote
from model_store.remote.open import open_remote
from model_store.transfer.publish import PublishResult, publish
from model_store.transfer.pull import pull
from model_store.transfer.push import push
from model_store.transfer.tag_moves import roll_back
from service.core.errors import ModelError, ServiceError
from service.evaluation.data_check import unknown_labels
from service.evaluation.labelled_documents import BadRecords, LabelledDocument, read_sets
from service.evaluation.record_text import pages_json
from service.settings import read_settings
from service.terminal import draw, say

if TYPE_CHECKING:  # A listing does not need it.
    from service.core.decoding.model_decoding import Decoding

OnProgress = Callable[[int, int], None]
"""Function of (bytes done, all bytes)."""


@contextmanager
def progress_bar(verb: str) -> Iterator[OnProgress]:
    """Show a bar on stderr while the context lasts; without a terminal the callback does nothing."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(verb), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(verb, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def store_of(chosen: argparse.Namespace) -> Store:
    return Store(chosen.store or read_settings().model_store)


def remote_of(chosen: argparse.Namespace) -> Remote | None:
    """Open the remote store; None if none is configured. Raises InvalidRemote."""
    url = read_settings().model_remote if chosen.remote is None else chosen.remote
    return open_remote(url) if url else None


UNNAMED_LABEL = re.compile(r"LABEL_\d+")


def run_publish(chosen: argparse.Namespace) -> int:
    """Publish a folder and print the result."""
    from service.engine.encoder.encoder import refuse_unloadable
    from service.engine.models.tokenizer_check import refuse_unusable_tokens  # A third of what a listing would import.
    from service.text.decoding_files import read_decoding

    store, remote = store_of(chosen), remote_of(chosen)
    provenance = Provenance(base_model=chosen.base_model, data=chosen.data, commit=chosen.commit)
    scanned = scan_folder(chosen.folder)
    golden = golden_examples(chosen.golden, scanned) if chosen.golden else ()
    refuse_unusable_tokens(chosen.folder)
    refuse_unloadable(chosen.folder, [entry.name for entry in scanned.files])
    decoding = read_decoding(chosen.folder) if scanned.family.has_labels else None
    if scanned.family.has_labels:
        refuse_unknown_kinds(chosen.folder, scanned.config.labels)
    known = store.revisions()
    with progress_bar("publishing") as report:
        published = publish(
            chosen.folder,
            chosen.name,
            store,
            tag=None if remote or golden else chosen.tag,
            provenance=provenance,
            golden=golden,
            progress=report,
        )
    try:
        observed = check_golden(published.revision, store) if golden else ""
    except InvalidGolden:
        if published.revision.revision not in known:
            remove_untagged(store, published.revision.revision)
        raise
    if golden:
        published = published if remote else published.tagged(store, chosen.tag)
    print(_upload(published, store, remote, chosen.tag) if remote else published)
    for left_out in published.left_out:
        print(f"left out: {left_out}")
    if licence := license_of(chosen.folder):
        print(f"licence: {licence}")
    if scanned.config.needs:
        print(f"input: {scanned.config.needs}")
    if not (scanned.family.has_labels or golden):
        say(
            "warning: without golden examples nobody notices a revision that finds something else; "
            "--golden takes labelled documents"
        )
    if decoding is not None:
        report_scheme(scanned.config.labels, decoding, observed)
    if any(UNNAMED_LABEL.fullmatch(label) for label in published.revision.manifest.labels):
        say(
            "warning: its labels are transformers' defaults (LABEL_0 …), and services will answer with them: "
            f"name the tags in `id2label` of {chosen.folder}/config.json and publish again"
        )
    return 0


def refuse_unknown_kinds(folder: Path, labels: tuple[str, ...]) -> None:
    """Raise ModelError where the folder's rules cannot be read, or say the kind of a label that is not answered."""
    from service.core.decoding.tag_scheme import scheme_of
    from service.families.refusals import labels_like
    from service.text.rules.rule_set import FILE, RuleSet

    rules = RuleSet.read(folder)
    types = scheme_of(labels).types
    known = sorted({*types, *rules.labels(types)})
    if unknown := sorted(rules.kinds.keys() - {*known}):
        raise ModelError(
            f"{FILE} says the kind of {unknown[0]!r}, a label that the model lacks; {labels_like(unknown[0], known)}"
        )


def report_scheme(labels: tuple[str, ...], decoding: Decoding, observed: str) -> None:
    """Print how a model's tags are read; warn of tags of no scheme, and of a model without a label for other words.

    Args:
        observed: the scheme's name, if the model was brought up.
    """
    from service.core.decoding.tag_scheme import IOB1, OUTSIDE, scheme_named, unread_tags

    scheme = scheme_named(observed or (IOB1 if decoding.inside_begins else ""), labels)
    is_open = not observed and decoding.leaves_open(scheme)
    print(f"scheme: {scheme.name}{' or IOB1, as a service will see (`scheme` in /models)' if is_open else ''}")
    if scheme.is_unusual:
        print(f"labels: {scheme.labels[int(scheme.begins.argmax())]} … are read as B-…, I-…")
    if scheme.outside not in (None, OUTSIDE):
        print(f"labels: {scheme.outside} is read as O, outside entities")
    if tags := unread_tags(scheme):
        say(
            f"warning: {tags[0]} looks like a tag, but is none of the labels' scheme, so services will answer "
            "with it as it is: write B-…, I-… and O in `id2label` of config.json and publish again"
        )
    if scheme.outside is None and not any(map(UNNAMED_LABEL.fullmatch, labels)):
        say("warning: no label is `O`, for words outside entities, so each word will be in one")


def check_golden(revision: Revision, store: Store) -> str:
    """Bring an untagged revision up on this machine as a service would, so that it answers its golden examples.

    Returns the scheme of its tags.

    Raises:
        InvalidGolden: it answers one otherwise, or cannot be brought up here; it stays untagged.
    """
    import asyncio

    from service.local_service import LocalService  # The workers' code takes half a second.

    async def bring_up() -> str:
        async with LocalService({}, lambda _: None, settings) as service:
            return service.model.scheme

    count = len(revision.manifest.golden)
    print(f"running {count} golden examples", file=sys.stderr)
    reference = f"{revision.name}@{revision.revision}"
    settings = {"models": reference, "model_store": str(store.root), "model_remote": "", "log_level": "CRITICAL"}
    try:
        return asyncio.run(bring_up())
    except ServiceError as error:
        raise InvalidGolden(f"Nothing was published: {error.detail}") from error


def golden_examples(path: Path, scanned: ScannedFolder) -> tuple[GoldenExample, ...]:
    """Read a labelled file or folder as golden examples for a model.

    Raises:
        InvalidGolden: a file holds no labelled documents, or neither model nor rules answer a label.
    """
    try:
        sets = read_sets([path])
    except BadRecords as error:
        raise InvalidGolden(error.detail) from error
    if not scanned.family.has_labels:
        return tuple(_example(document, sorted(each.labels)) for each in sets for document in each.documents)
    from service.text.pipeline import answered_labels  # Its rules take a tenth of a second.

    documents = [document for each in sets for document in each.documents]
    has_rules = any(entry.name == RULES for entry in scanned.files)
    if lacking := unknown_labels(documents, answered_labels(scanned.config.labels, has_rules=has_rules)):
        raise InvalidGolden(f"No service would take it: {'; '.join(map(str, lacking))}.")
    return tuple(map(_example, documents))


def _example(document: LabelledDocument, labels: Sequence[str] = ()) -> GoldenExample:
    entities = tuple(GoldenEntity(span.label, span.start, span.end) for span in document.spans)
    pages: tuple[GoldenPage, ...] = ()
    if document.placed is not None:
        pages = msgspec.json.decode(pages_json(replace(document.placed, page_images=())), type=tuple[GoldenPage, ...])
    return GoldenExample(document.text, entities, tuple(labels), pages=pages)


def run_pull(chosen: argparse.Namespace) -> int:
    """Pull a model and print the result."""
    reference, remote = parse_reference(chosen.model), remote_of(chosen)
    if remote is None:
        raise InvalidRemote("There is nowhere to pull from: set GLEANER_MODEL_REMOTE or give --remote.")
    with progress_bar("pulling") as report:
        prefetched = read_settings().model_baked
        pulled = pull(reference, store_of(chosen), remote, progress=report, prefetched=prefetched)
    print(pulled)
    for revision in pulled.evicted:
        print(f"evicted, to make room: {revision}")
    return 0


def run_rollback(chosen: argparse.Namespace) -> int:
    """Move a tag back, and print the move."""
    reference = parse_reference(chosen.name)
    if reference.tag is None:
        raise InvalidReference(f"'{chosen.name}' names a revision; only a tag can be rolled back: name or name@tag.")
    to = check_revision(chosen.to) if chosen.to else None
    store, remote = store_of(chosen), remote_of(chosen)
    if reference.name in builtin_names(BUILTIN_ROOT) and remote is None and store.find(reference) is None:
        raise NoEarlierRevision(
            f"{reference.name} is built in, and nothing was published as {reference}: each version of Gleaner has one "
            "revision of it."
        )
    print(roll_back(reference, store, remote, to))
    return 0


def _upload(published: PublishResult, store: Store, remote: Remote, tag: str) -> str:
    revision = published.revision
    with progress_bar("uploading") as report:
        pushed = push(revision, store, remote, tag=tag, progress=report)
    set_tag(store.layout, revision.name, tag, pushed.tag.tag)
    name = f"{revision.name}@{tag}"
    if not pushed.tag_moved and not pushed.uploaded_bytes:
        return f"{name} is {revision.revision} in {remote.url} already; nothing was uploaded."
    return (
        f"{name} is {revision.revision} in {remote.url}: {pushed.uploaded_bytes:,} bytes uploaded, "
        f"{pushed.kept_bytes:,} were there."
    )


COLUMNS = ("model", "tags", "since", "revision", "size", "own", "shared", "where", "")
NUMBERS = ("size", "own", "shared")


def run_list(chosen: argparse.Namespace) -> int:
    """Print the table; a revision in both places with the same tags takes one line."""
    from rich.table import Table

    remote = remote_of(chosen)
    here = Catalog(store_of(chosen).root).list()
    there = list_remote(remote) if remote else ()
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, no_wrap=True, justify="right" if column in NUMBERS else "left")
    for model, where in merged(here, there):
        own_bytes = model.size_bytes - model.shared_bytes
        sizes = (f"{size / 1e6:,.1f} MB" for size in (model.size_bytes, own_bytes, model.shared_bytes))
        since = _date(model.since_seconds)
        table.add_row(model.name, ",".join(model.tags), since, model.revision, *sizes, where, model.problem or "")
    draw(table)
    return 0


def _date(seconds: float | None) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}Z" if seconds else ""


def merged(here: Sequence[ListedModel], there: Sequence[ListedModel]) -> Iterator[tuple[ListedModel, str]]:
    """Yield all lines, sorted, with their places. Sizes are the local store's, if it has the revision."""
    remote = {_key(model): model for model in there}
    lines = []
    for model in here:
        both = remote.pop(_key(model), None) is not None
        lines.append((model, "built in" if model.built_in else "here, remote" if both else "here"))
    lines += [(model, "remote") for model in remote.values()]
    yield from sorted(lines, key=lambda line: sort_key(line[0]))


def _key(model: ListedModel) -> tuple[str, str, tuple[str, ...]]:
    return model.name, model.revision, model.tags


def run_verify(chosen: argparse.Namespace) -> int:
    """Hash all files; returns 1 if any is missing or damaged."""
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
    """Collect garbage; returns 1 if the budget cannot be met."""
    keep_last = KEEP_LAST if chosen.keep is None else chosen.keep
    with progress_bar("removing") as progress:
        collected = collect_garbage(
            store_of(chosen), keep_last=keep_last, budget_bytes=chosen.budget, progress=progress
        )
    for revision in collected.evicted:
        print(f"gone: {revision}")
    print(collected)
    return 0 if collected.within_budget else 1
