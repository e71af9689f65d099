"""Whatever comes over its socket, the loop goes on: bad messages are counted, and answered where that can be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.engine.requests.request_table import RequestTable
from service.wire import Refused, Status, Submitted, WireError
from tests.support.engine_scenes import A, B, Turn, World, cancelled, document, hello, play
from tests.support.fuzz.wire import fuzz_wire


def bad_messages(world: World) -> float:
    return float(world.metrics.bad_messages._value.get())


def test_bytes_about_a_document_that_are_no_message_are_counted_and_refuse_it() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [(A, WireError("out of bounds", "mine"), None), (A, WireError("noise"), None), document("good", 3)]

    world = play(scene)
    assert world.refusal("mine").code == "internal_error"
    assert (world.scored("good"), bad_messages(world)) == ([0], 2)


def test_bytes_about_a_document_that_is_admitted_do_not_refuse_it() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [document("good", 3), (B, WireError("out of bounds", "good"), None)]

    assert play(scene).scored("good") == [0]


def test_a_message_that_is_for_workers_is_counted_and_dropped() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [(A, Refused("k", "queue_full", ""), None), (A, Status("1", "ready"), None)]  # type: ignore[arg-type]

    world = play(scene)
    assert (bad_messages(world), world.loop.exit_reason) == (2, None)


def test_an_exception_over_one_message_refuses_its_document_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    admit = RequestTable.admit

    def fails(self: RequestTable, worker: bytes, submission: Submitted, *others: object) -> object:
        if submission.key == "unlucky":
            raise ZeroDivisionError
        return admit(self, worker, submission, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(RequestTable, "admit", fails)

    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0)]
        yield [document("unlucky", 3), document("good", 3)]

    world = play(scene)
    assert (world.refusal("unlucky").code, world.scored("good"), bad_messages(world)) == ("internal_error", [0], 1)


def test_a_worker_cancels_its_own_documents_only() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield [hello(A, 0), hello(B, 0)]
        yield [document("first", 4), document("a's", 3, worker=A), cancelled("a's", worker=B)]

    assert play(scene, workers=2).scored("a's") == [0]


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_no_frames_end_the_loop_or_cost_an_honest_document_its_answer(seed: int) -> None:
    found = fuzz_wire(seed, frames=100)
    assert found.refused + found.understood == found.frames
