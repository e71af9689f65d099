"""`gleaner models canary`: compares a candidate with the revision that is served; promotes or withdraws it.

Each document is posted to `NAME@stable` and to `NAME@candidate` of a running service, one after the other, and the
order alternates. Both answer one document first that is not counted, then all, again and again until each has given a
hundred answers. Exit code 0 when the candidate holds its limits, 1 when it does not.

With labelled documents (`--golden`) their truth decides in place of the share of entities that differ: the candidate is
better or worse if the 95 % interval of the difference of both F1 lies above or below 0, and else nothing is proven and
no tag moves.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_store.transfer.tag_moves import promote
from service.commands.file_answers import read_key
from service.commands.model_actions import progress_bar, remote_of, store_of
from service.core.canary import LEAST_ANSWERS, LEAST_DOCUMENTS, CanaryAnswer, CanaryLimits, CanaryReport, compare
from service.core.errors import GleanerError, InvalidOptions
from service.evaluation.labelled_documents import LabelledDocument, LabelledSpan, read_sets
from service.evaluation.record_text import pages_json
from service.evaluation.span_scores import LEAST_GROUPS, SpanScore, Tally, difference_interval, exact_spans
from service.remote_service import RemoteService

STABLE, CANDIDATE = "stable", "candidate"


def run_canary(chosen: argparse.Namespace) -> int:
    """Compare, print, and move the tag by the outcome, if the options say so."""
    if chosen.withdraw_only:
        print(promote(chosen.name, store_of(chosen), remote_of(chosen), source=STABLE, target=CANDIDATE))
        return 0
    if chosen.url is None or (chosen.documents is None) is (chosen.golden is None):
        raise InvalidOptions("to compare, give the service's --url, and --documents or --golden to post")
    posted = _files(chosen.documents) if chosen.golden is None else _labelled(chosen.golden)
    answers = asyncio.run(_answers(chosen, posted))
    report = compare(answers[STABLE], answers[CANDIDATE])
    judged = None if chosen.golden is None else judge(posted, answers)
    limits = CanaryLimits(
        errors=chosen.more_errors, slower=chosen.slower, drift=chosen.drift if judged is None else 1.0
    )
    too_few = judged is not None and report.documents < LEAST_DOCUMENTS
    problems = [] if too_few else report.problems(limits)
    print("\n".join([*lines(report), *([] if judged is None else judged.lines())]))
    if judged is not None and judged.is_worse and not too_few:
        problems.append("it is worse on the labelled documents")
    is_proven = judged is None or (judged.is_better and not too_few)
    no_proof = f"{report.documents} labelled documents prove nothing{f'; {LEAST_DOCUMENTS} may' if too_few else ''}"
    for problem in problems or ([] if is_proven else [no_proof]):
        print(f"not promoted: {problem}", file=sys.stderr)
    if problems and chosen.withdraw:
        print(promote(chosen.name, store_of(chosen), remote_of(chosen), source=STABLE, target=CANDIDATE))
    elif not problems and is_proven and chosen.promote:
        print(promote(chosen.name, store_of(chosen), remote_of(chosen), source=CANDIDATE, target=STABLE))
    return 1 if problems or not is_proven else 0


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


@dataclass(frozen=True, slots=True)
class PostedDocument:
    """A document that both revisions answer: a file, or a labelled text and the labels of its set."""

    path: Path
    labelled: LabelledDocument | None = None
    labels: frozenset[str] = frozenset()

    @property
    def content(self) -> bytes | str:
        if self.labelled is None:
            return self.path.read_bytes()
        placed = self.labelled.placed
        return self.labelled.text if placed is None else b'{"pages": ' + pages_json(placed) + b"}"


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """Exact spans of both revisions in labelled documents.

    Attributes:
        interval: 95 % interval of the candidate's F1 minus the stable one's; None with too few groups.
    """

    documents: int
    stable: SpanScore
    candidate: SpanScore
    interval: tuple[float, float] | None

    @property
    def is_better(self) -> bool:
        return self.interval is not None and self.interval[0] > 0

    @property
    def is_worse(self) -> bool:
        return self.interval is not None and self.interval[1] < 0

    def lines(self) -> list[str]:
        """Format both scores with their counts, and what they prove."""
        rows = [
            f"F1 {name:<10}{each.f1:.3f}  {each.right} right of {each.found} found and {each.gold} labelled"
            for name, each in ((STABLE, self.stable), (CANDIDATE, self.candidate))
        ]
        if self.interval is None:
            proof = f"no proof: {self.stable.groups} groups of documents; {LEAST_GROUPS} are needed"
        else:
            low, high = self.interval
            word = "better" if self.is_better else "worse" if self.is_worse else "no proof"
            proof = f"{word}: difference of F1 {low:+.3f} to {high:+.3f} (95 %) on {self.documents} documents"
        return [*rows, proof]


def judge(posted: Sequence[PostedDocument], answers: Mapping[str, Sequence[CanaryAnswer]]) -> LabelledVerdict:
    """Compare the entities that both revisions found with the truth, each document once; a failed one has none."""
    tallies = {tag: Tally() for tag in answers}
    for tag, tally in tallies.items():
        for each, answer in zip(posted, answers[tag], strict=False):
            if each.labelled is None:
                continue
            answered = [LabelledSpan(a, b, label) for label, a, b in answer.entities]
            truth, found = (
                exact_spans(each.labelled.text, spans, each.labels) for spans in (each.labelled.spans, answered)
            )
            tally.add(each.labelled.group, gold=len(truth), found=len(found), right=len(truth & found))
    stable, candidate = tallies[STABLE], tallies[CANDIDATE]
    return LabelledVerdict(len(posted), stable.score(), candidate.score(), difference_interval(stable, candidate))


def _files(folder: Path) -> list[PostedDocument]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if not paths:
        raise InvalidOptions(f"{folder} has no files")
    return [PostedDocument(path) for path in paths]


def _labelled(path: Path) -> list[PostedDocument]:
    return [
        PostedDocument(Path(document.id), document, each.labels)
        for each in read_sets([path])
        for document in each.documents
    ]


async def _answers(chosen: argparse.Namespace, posted: Sequence[PostedDocument]) -> dict[str, list[CanaryAnswer]]:
    """Both revisions' answers, all documents again and again, in the same order."""
    documents = [*posted]
    if len(documents) >= LEAST_DOCUMENTS:
        documents *= math.ceil(LEAST_ANSWERS / len(documents))
    answers: dict[str, list[CanaryAnswer]] = {STABLE: [], CANDIDATE: []}
    key, options = read_key(chosen.key_file), {} if chosen.labels is None else {"labels": chosen.labels}
    async with (
        RemoteService(chosen.url, {"model": f"{chosen.name}@{STABLE}", **options}, key) as stable,
        RemoteService(chosen.url, {"model": f"{chosen.name}@{CANDIDATE}", **options}, key) as candidate,
    ):
        services = [(STABLE, stable), (CANDIDATE, candidate)]
        for _, service in services:
            await _answer(service, documents[0])
        with progress_bar("comparing") as bar:
            for number, document in enumerate(documents):
                for tag, service in services if number % 2 else reversed(services):
                    answers[tag].append(await _answer(service, document))
                bar(number + 1, len(documents))
    return answers


async def _answer(service: RemoteService, posted: PostedDocument) -> CanaryAnswer:
    begun = time.perf_counter()
    try:
        document = await service.extract(posted.path, posted.content)
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
