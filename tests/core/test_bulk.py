"""Bulk jobs: chunks, names of parts, rows; any course of deliveries and deaths leaves one row for each input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.bulk import (
    BulkJob,
    Chunk,
    Item,
    NewestRows,
    PlannedKeys,
    Progress,
    chunks_of,
    part_name,
    row,
    unfinished,
    unplanned,
)
from service.core.bulk_errors import LONGEST_SECONDS, FailureOutcome, outcome_of, wait_seconds
from service.core.errors import BY_CODE, Overloaded

JOB = BulkJob("documents@sha256:ab", {"fields": True})


def _items(count: int, size_bytes: int = 1) -> list[Item]:
    return [Item(f"in/{number}", "v1", size_bytes) for number in range(count)]


def test_a_chunk_ends_at_its_files_or_its_bytes() -> None:
    assert [len(chunk.items) for chunk in chunks_of(_items(7), files=3)] == [3, 3, 1]
    assert [chunk.size_bytes for chunk in chunks_of(_items(5, 40), size_bytes=100)] == [80, 80, 40]
    assert [len(chunk.items) for chunk in chunks_of(_items(2, 200), size_bytes=100)] == [1, 1]
    assert list(chunks_of([])) == []


def test_a_parts_name_follows_from_inputs_versions_options_and_revision() -> None:
    chunk = Chunk(tuple(_items(2)))
    others = (
        part_name(Chunk(chunk.items[:1]), JOB),
        part_name(Chunk((chunk.items[0], Item("in/1", "v2", 1))), JOB),
        part_name(chunk, BulkJob(JOB.model, {})),
        part_name(chunk, BulkJob("documents@sha256:cd", JOB.options)),
        part_name(Chunk(chunk.items, attempt=1), JOB),
    )
    assert part_name(chunk, JOB) == part_name(Chunk(tuple(_items(2, 9))), JOB)
    assert part_name(chunk, JOB) not in others
    assert len(set(others)) == 5


def test_names_that_are_no_unicode_have_a_part_too() -> None:
    assert part_name(Chunk((Item("a\udcff", "", 0),)), JOB)


def test_a_row_has_an_answer_or_an_error() -> None:
    item = Item("a.txt", "v1", 3)
    document: dict[str, Any] = {"id": "a.txt", "entities": [], "error": None}
    failed = {**document, "error": {"code": "unreadable_document", "detail": "Damaged.", "more": 1}}
    assert row(item, model="m", sha256="00", document=document) == {
        "key": "a.txt",
        "version": "v1",
        "bytes": 3,
        "sha256": "00",
        "model": "m",
        "document": document,
        "error": None,
    }
    assert row(item, model="m", document=failed)["document"] is None
    assert row(item, model="m", document=failed)["error"] == {"code": "unreadable_document", "detail": "Damaged."}
    missing = {"code": "object_missing", "detail": "Gone."}
    assert row(item, model="m", error=missing)["error"] == missing


def test_an_input_is_planned_anew_when_its_version_changes() -> None:
    planned = PlannedKeys()
    first, second = Item("a", "v1", 1), Item("a", "v2", 1)
    assert list(unplanned([first, first, second, second, first, Item("b", "v1", 1)], planned)) == [
        first,
        second,
        first,
        Item("b", "v1", 1),
    ]
    assert list(unplanned([first], planned)) == []


def test_of_a_keys_rows_the_last_in_the_plan_counts() -> None:
    a, b, c = (Item(key, "v1", 1) for key in "abc")
    newest = NewestRows([Chunk((a, b)), Chunk((Item("a", "v2", 1), c)), Chunk((b,), attempt=1)])
    rows = [(a, False), (b, False), (a, True), (c, True), (b, True)]
    assert [newest.counts(item, number) for number, (item, _) in enumerate(rows)] == [counts for _, counts in rows]
    assert (newest.keys, newest.rows) == (3, 5)


@pytest.mark.parametrize(
    ("progress", "rate", "left"),
    [
        (Progress(100, 50, 0, 10.0), 5.0, 10.0),
        (Progress(100, 50, 40, 10.0), 1.0, 50.0),
        (Progress(100, 40, 40, 10.0), None, None),
        (Progress(100, 40, 0, 0.0), None, None),
    ],
)
def test_progress_counts_this_run_alone(progress: Progress, rate: float | None, left: float | None) -> None:
    assert progress.files_a_second == rate
    assert progress.seconds_left == left
    assert progress.dollars(3600) == progress.seconds


@pytest.mark.parametrize(
    ("chunks", "needed"),
    [
        ([("ab", True), ("cd", False)], {1}),
        ([("ab", False), ("a", True), ("b", False)], {2}),
        ([("ab", False), ("a", True)], {0}),
        ([("ab", False), ("ab", False), ("ab", True)], set()),
        ([("ab", True), ("a", False)], {1}),
    ],
)
def test_a_chunk_needs_no_part_once_all_its_inputs_are_tried_again(
    chunks: list[tuple[str, bool]], needed: set[int]
) -> None:
    plan = [
        (Chunk(tuple(Item(key, "v", 1) for key in keys), number), written)
        for number, (keys, written) in enumerate(chunks)
    ]
    assert unfinished(plan) == needed


class _Run:
    """A job with its plan, its messages and its parts, and workers that die at any step."""

    def __init__(self) -> None:
        self.planned = PlannedKeys()
        self.plan: list[Chunk] = []
        self.messages: list[Chunk] = []
        self.dead: list[Chunk] = []
        self.parts: dict[str, list[dict[str, Any]]] = {}

    def add(self, items: list[Item]) -> None:
        """Plan, then send what needs its part: also what is in the queue already."""
        self.plan.extend(chunks_of(unplanned(items, self.planned), files=3))
        self.messages.extend(self.needed())

    def needed(self) -> list[Chunk]:
        """The chunks that need their part."""
        numbers = unfinished((chunk, part_name(chunk, JOB) in self.parts) for chunk in self.plan)
        return [self.plan[number] for number in sorted(numbers)]

    def die_out(self, number: int) -> None:
        """A message is received too often."""
        if self.messages:
            self.dead.append(self.messages.pop(number % len(self.messages)))

    def retry(self) -> None:
        """Send the inputs of dead letters whose part is needed as chunks of one."""
        items = [item for chunk in self.dead if chunk in self.needed() for item in chunk.items]
        attempt = 1 + max((chunk.attempt for chunk in self.plan), default=0)
        again = list(chunks_of(items, files=1, attempt=attempt))
        self.plan.extend(again)
        self.messages.extend(again)
        self.dead.clear()

    def deliver(self, number: int, dies: str) -> None:
        """One delivery by a worker that dies before its part is written, before its message is deleted, or not."""
        if self.messages and dies != "early":
            chunk = self.messages[number % len(self.messages)]
            self.parts.setdefault(part_name(chunk, JOB), [row(item, model=JOB.model) for item in chunk.items])
            if dies == "never":
                self.messages.remove(chunk)


_step = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 12)),
    st.tuples(st.sampled_from(["early", "late", "never", "dead", "retry"]), st.integers(0, 9)),
)


@given(st.lists(_step, max_size=40))
def test_any_course_leaves_one_row_for_each_input(steps: list[tuple[str, int]]) -> None:
    run, count = _Run(), 0
    for what, number in steps:
        if what == "add":
            count = max(count, number)
            run.add(_items(number))
        elif what == "dead":
            run.die_out(number)
        elif what == "retry":
            run.retry()
        else:
            run.deliver(number, what)
    run.add(_items(count))
    while run.messages:
        run.deliver(0, "never")
    assert run.needed() == []
    newest, number, keys = NewestRows(run.plan), 0, []
    for chunk in run.plan:
        rows = run.parts.get(part_name(chunk, JOB), [])
        for at, item in enumerate(chunk.items):
            if newest.counts(item, number + at):
                keys.append(rows[at]["key"])
        number += len(chunk.items)
    assert sorted(keys) == sorted(item.key for item in _items(count))


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("unreadable_document", FailureOutcome.ROW),
        ("poison_document", FailureOutcome.ROW),
        ("object_changed", FailureOutcome.ROW),
        ("too_long_for_deadline", FailureOutcome.ROW),
        ("deadline_exceeded", FailureOutcome.AGAIN),
        ("internal_error", FailureOutcome.AGAIN),
        ("unknown_model", FailureOutcome.LATER),
        ("unreachable", FailureOutcome.LATER),
        ("forbidden", FailureOutcome.JOB),
    ],
)
def test_an_error_is_the_inputs_the_services_or_the_jobs(code: str, outcome: FailureOutcome) -> None:
    assert outcome_of(code) is outcome


def test_overload_is_no_inputs_own_fault() -> None:
    overload = [code for code, kind in BY_CODE.items() if issubclass(kind, Overloaded)]
    assert {code for code in overload if outcome_of(code) is not FailureOutcome.LATER} == {"deadline_exceeded"}


def test_a_wait_is_what_the_service_says_or_doubles() -> None:
    assert [wait_seconds(tries, None, 0.0) for tries in (1, 2, 3, 9)] == [1.0, 2.0, 4.0, LONGEST_SECONDS]
    assert wait_seconds(1, 0.5, 0.0) == 0.5
    assert wait_seconds(1, 8.0, 1.0) == 10.0
