"""Extract requests: the message that submits a document, and how documents end: counted, charged and noted once."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from service.api import problems
from service.api.extraction.request import (
    DocumentInput,
    ExtractRequest,
    FinishedDocument,
    error_of_all,
    gathered,
    start_all,
)
from service.api.extraction.trace import RequestTrace, StageTimer
from service.api.options import ExtractOptions
from service.api.problems import Problem
from service.core.errors import InternalError, QueueFull, UnreadableDocument
from service.core.types import Priority
from service.families.processor import ModelInput
from service.metrics.worker import WorkerMetrics
from service.text.values.context import ReadingFailure
from service.wire import ModelStatus, Submitted
from tests.support.extractors import request_of
from tests.support.garbage import uncollected

MODEL = ModelStatus("m", "stable", "sha256:0", "/m", ("O",), 512, True, 1)
BATCH_REQUEST = request_of(MODEL, ExtractOptions(priority=Priority.BATCH), client="alice", deadline_seconds=10.0)


@pytest.mark.parametrize(
    ("source", "format_", "size"),
    [
        (DocumentInput("0", text="größe"), "text", 5),
        (DocumentInput("0", data="größe".encode(), media_type="application/pdf"), "PDF", 7),
        (DocumentInput("0", data=b"", name="a.pdf"), "PDF", 0),
        (DocumentInput("0", data=b"a", media_type="made/up"), "unknown", 1),
        (DocumentInput("0", data=b"a", media_type="TEXT/HTML; charset=" + "x" * 50_000), "HTML", 1),
    ],
)
def test_the_estimate_has_the_size_of_the_input(source: DocumentInput, format_: str, size: int) -> None:
    estimate = BATCH_REQUEST.estimate(source, now=4.0)
    assert (estimate.format, estimate.size, estimate.left_seconds) == (format_, size, 6.0)
    assert estimate.kind == ("sha256:0", "alice", Priority.BATCH, format_)


def test_the_submission_has_the_lengths_of_the_sequences() -> None:
    sequences = [np.zeros(3, dtype=np.int32), np.zeros(1, dtype=np.int32)]
    assert BATCH_REQUEST.submission("k", ModelInput(sequences)) == Submitted(
        "k", "sha256:0", (3, 1), "alice", Priority.BATCH, 10.0, attempt=0
    )
    boxed = [np.zeros((3, 5), dtype=np.int32), np.zeros((1, 5), dtype=np.int32)]
    submitted = BATCH_REQUEST.submission("k", ModelInput(boxed))
    assert (submitted.lengths, submitted.columns) == ((3, 1), 5)


REQUEST = request_of(MODEL)


@dataclass(frozen=True, slots=True)
class Stamped:
    """The result of a document that was stamped."""

    pages: int | None
    tokens: int
    entities: list[str]
    code: str = "ok"


@dataclass(frozen=True, slots=True)
class Stamping:
    """Work that ends as the documents' ids say."""

    ends: dict[str, Exception | None]
    counted: list[str] = field(default_factory=list)
    metrics: WorkerMetrics = field(default_factory=WorkerMetrics)
    failures: frozenset[ReadingFailure] = frozenset()

    async def result(self, source: DocumentInput, _request: ExtractRequest, timer: StageTimer) -> Stamped:
        timer.record("stamp", 1.0, 0.25)
        timer.tokens, timer.charged_tokens, timer.failures = 30, 7, self.failures
        if (error := self.ends[source.id]) is not None:
            raise error
        return Stamped(None, 7, ["stamp"])

    def failed(self, _source: DocumentInput, problem: Problem) -> Stamped:
        return Stamped(None, 0, [], problem["code"])

    def count(self, result: Stamped) -> None:
        self.counted.append(result.code)

    def windows(self, _result: Stamped) -> int:
        return 3


def ended(work: Stamping, request: ExtractRequest = REQUEST) -> list[FinishedDocument[Stamped]]:
    """All documents of the work as they ended."""

    async def scene() -> list[FinishedDocument[Stamped]]:
        sources = [DocumentInput(each, text="Anna") for each in work.ends]
        return await gathered(start_all(work, sources, request))

    return asyncio.run(scene())


def test_a_failure_is_its_document_s_own_also_an_unknown_one() -> None:
    work = Stamping({"a": None, "b": UnreadableDocument("bad"), "c": RuntimeError("a secret")})
    good, bad, broken = ended(work)
    assert (good.code, good.result.tokens, good.error) == ("ok", 7, None)
    assert (bad.code, bad.result.code) == ("unreadable_document", "unreadable_document")
    assert isinstance(broken.error, InternalError)
    assert "secret" not in broken.error.detail
    assert sorted(work.counted) == ["internal_error", "ok", "unreadable_document"]


def test_a_reader_that_failed_is_counted_and_logged_once_by_kind(caplog: pytest.LogCaptureFixture) -> None:
    failure = ReadingFailure("read_date", "ValueError", "dates.py:1")
    kinds = frozenset((failure, failure._replace(reader="read_money")))
    work = Stamping({"a": None, "b": None}, failures=kinds)
    assert [each.code for each in ended(work)] == ["ok", "ok"]
    logged = [vars(record) for record in caplog.records]
    assert sorted((each["event"], each["reader"], each["error"], each["line"]) for each in logged) == [
        ("reader_failed", "read_date", "ValueError", "dates.py:1"),
        ("reader_failed", "read_money", "ValueError", "dates.py:1"),
    ]


def test_documents_that_were_answered_are_charged_and_all_are_noted() -> None:
    charged, trace = list[int](), RequestTrace("id", 0.0)
    ended(Stamping({"a": None, "b": QueueFull("full")}), replace(REQUEST, charge_tokens=charged.append, trace=trace))
    assert charged == [7]
    noted = {each.code: (each.tokens, each.windows, each.entities, each.size) for each in trace.documents}
    assert noted == {"ok": (7, 3, 1, 4), "queue_full": (0, 3, 0, 4)}


def test_an_error_is_the_whole_request_s_only_where_all_documents_failed() -> None:
    full, bad = QueueFull("full"), UnreadableDocument("bad")
    assert error_of_all(ended(Stamping({"a": bad})), batch=False) is bad
    assert error_of_all(ended(Stamping({"a": bad})), batch=True) is None
    assert error_of_all(ended(Stamping({"a": full, "b": full})), batch=True) is full
    assert error_of_all(ended(Stamping({"a": full, "b": None})), batch=True) is None
    assert error_of_all(ended(Stamping({"a": None})), batch=False) is None


class WatchedText(str):
    """A text that tells when nobody holds it any more."""


def test_a_failed_document_is_freed_without_garbage_collection() -> None:
    async def scene() -> weakref.ref[WatchedText]:
        text = WatchedText("Anna")
        work = Stamping({"a": UnreadableDocument("bad")})
        (failed,) = await gathered(start_all(work, [DocumentInput("a", text=text)], REQUEST))
        assert failed.error is not None
        with suppress(UnreadableDocument):
            raise failed.error
        problems.response(failed.error)
        return weakref.ref(text)

    with uncollected():
        assert asyncio.run(scene())() is None
