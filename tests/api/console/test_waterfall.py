"""A request's spans follow each other without a gap, and add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.console.waterfall import spans, summary, waterfall
from service.api.extraction.trace import MOST_DOCUMENTS, MOST_TRACES, DocumentTrace, RequestTrace, StageTimer, TraceBook
from service.core.debug_snapshot import BatchRun

BEGUN = 100.0


def batch(number: int, begun: float, ended: float) -> BatchRun:
    return BatchRun(number, "sha256:a", begun, ended, 30, 60, 20, 0, {"k": (20,), "l": (6, 4)}, {"c": 3})


def document(timer: StageTimer, ended: float, code: str = "ok") -> DocumentTrace:
    return DocumentTrace("pdf", 2_000, 1, 20, 1, 3, code, timer, ended)


def traced(*documents: DocumentTrace, ended: float) -> RequestTrace:
    trace = RequestTrace("r", BEGUN, 1_700_000_000.0, "POST", "/extract", "c", "m", "77", BEGUN + 0.001, ended, 200)
    for each in documents:
        trace.add(each)
    return trace


def plain_timer() -> StageTimer:
    return StageTimer(
        seconds={"parse": 0.010, "tokenize": 0.002, "queue": 0.004, "compute": 0.020, "decode": 0.001},
        begun_seconds={
            "parse": BEGUN + 0.0012,
            "tokenize": BEGUN + 0.0112,
            "queue": BEGUN + 0.0132,
            "decode": BEGUN + 0.0382,
        },
        batches=(7,),
    )


def test_the_stages_stand_in_their_order_with_the_batch_and_its_mates() -> None:
    trace = traced(document(plain_timer(), BEGUN + 0.0392), ended=BEGUN + 0.040)
    found = waterfall(trace, {7: batch(7, BEGUN + 0.0172, BEGUN + 0.0372)})
    (one,) = found["documents"]
    names = [span["name"] for span in one["spans"]]
    assert names == ["receive", "other", "parse", "tokenize", "queue", "batch", "deliver", "decode"]
    mates = one["spans"][5]["batch"]
    assert mates == {
        "number": 7,
        "tokens": 30,
        "full_tokens": 60,
        "documents": 2,
        "sequences": 3,
        "lengths": [20, 6, 4],
    }
    assert sum(span["ms"] for span in one["spans"]) + found["answer_ms"] == pytest.approx(found["total_ms"], abs=0.01)


def test_of_batches_that_the_engine_forgot_the_time_is_still_told() -> None:
    trace = traced(document(plain_timer(), BEGUN + 0.0392), ended=BEGUN + 0.040)
    (one,) = waterfall(trace, {})["documents"]
    told = {span["name"]: span["ms"] for span in one["spans"]}
    assert (one["remembered"], one["batches"]) == (False, 1)
    assert told["compute"] == pytest.approx(20.0, abs=0.01)
    assert told["queue"] == pytest.approx(5.0, abs=0.01)


def test_a_document_that_failed_early_ends_where_it_failed() -> None:
    timer = StageTimer(seconds={"parse": 0.5}, begun_seconds={"parse": BEGUN + 0.002})
    trace = traced(document(timer, BEGUN + 0.6, "unreadable_document"), ended=BEGUN + 0.6)
    found = waterfall(trace, {})
    assert [span["name"] for span in found["documents"][0]["spans"]] == ["receive", "other", "parse", "other"]
    assert found["code"] == "unreadable_document"


def test_a_request_that_was_refused_before_any_document_has_its_code() -> None:
    trace = RequestTrace("r", BEGUN, ended_seconds=BEGUN + 0.001, status=503, code="draining")
    assert (summary(trace)["code"], summary(trace)["total_ms"]) == ("draining", 1.0)


@given(
    cuts=st.lists(st.floats(0.0, 0.2), min_size=8, max_size=8),
    ran=st.lists(st.tuples(st.floats(-0.1, 2.0), st.floats(0.0, 0.5)), max_size=6),
)
def test_spans_have_no_gap_and_no_overlap_whatever_the_clocks_say(
    cuts: list[float], ran: list[tuple[float, float]]
) -> None:
    at, marks = BEGUN, []
    for cut in cuts:
        at += cut
        marks.append(at)
    received, parse, parsed, tokenize, tokenized, queue, decode, end = marks
    timer = StageTimer(
        seconds={"parse": parsed - parse, "tokenize": tokenized - tokenize, "compute": 0.1, "decode": end - decode},
        begun_seconds={"parse": parse, "tokenize": tokenize, "queue": queue, "decode": decode},
        batches=tuple(range(len(ran))),
    )
    batches = {n: batch(n, BEGUN + begun, BEGUN + begun + took) for n, (begun, took) in enumerate(ran)}
    trace = RequestTrace("r", BEGUN, received_seconds=received, ended_seconds=end)
    found = spans(document(timer, end), trace, batches)
    borders = [BEGUN, *(span.ended for span in found)]
    assert [span.begun for span in found] == pytest.approx(borders[:-1])
    assert all(span.ended > span.begun for span in found)
    assert borders[-1] == pytest.approx(end) or end - borders[-1] < 1e-3


def test_a_book_keeps_the_last_and_finds_them_by_client() -> None:
    book = TraceBook()
    for number in range(MOST_TRACES + 5):
        book.add(RequestTrace(str(number), BEGUN, client="a" if number % 2 else "b"))
    assert book.find("4") is None
    assert book.find("5") is not None
    assert book.find("5", "b") is None
    assert len(list(book.latest())) == MOST_TRACES
    assert [trace.id for trace in book.latest("a")][:2] == [str(MOST_TRACES + 3), str(MOST_TRACES + 1)]


def test_of_many_documents_the_first_are_kept_and_all_are_counted() -> None:
    trace = traced(*(document(StageTimer(), BEGUN) for _ in range(MOST_DOCUMENTS + 9)), ended=BEGUN)
    assert (trace.count, len(trace.documents)) == (MOST_DOCUMENTS + 9, MOST_DOCUMENTS)
