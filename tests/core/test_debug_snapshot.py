"""What an engine remembers of its batches and refusals, and tells when it is asked."""

from __future__ import annotations

from service.core.debug_snapshot import MOST_BATCHES, EngineHistory, RefusalCount
from service.core.types import Batch, Refusal, Sequence, Shape

BATCH = Batch("sha256:a", (Sequence("k", 0, 10), Sequence("k", 1, 20), Sequence("l", 0, 5)))


def test_a_batch_comes_back_by_document_with_what_it_was_predicted_to_take() -> None:
    history = EngineHistory()
    history.ran(1, BATCH, (2.0, 3.5), 40, {"c": 3})
    asked: list[tuple[str, Shape]] = []

    def predict(model: str, shape: Shape) -> int:
        asked.append((model, shape))
        return 1_000

    (run,) = history.since(0, predict)
    assert asked == [("sha256:a", Shape(35, 20, 3))]
    assert (run.number, run.tokens, run.full_tokens, run.longest) == (1, 35, 40, 20)
    assert (run.begun_seconds, run.ended_seconds, run.predicted_bytes) == (2.0, 3.5, 1_000)
    assert run.documents == {"k": (10, 20), "l": (5,)}
    assert run.clients == {"c": 3}


def test_only_later_batches_are_told_and_the_oldest_are_forgotten() -> None:
    history = EngineHistory()
    for number in range(1, MOST_BATCHES + 11):
        history.ran(number, BATCH, (0.0, 1.0), 40, {})
    told = [run.number for run in history.since(0, lambda *_: 0)]
    assert told == list(range(11, MOST_BATCHES + 11))
    assert [run.number for run in history.since(MOST_BATCHES + 8, lambda *_: 0)] == [
        MOST_BATCHES + 9,
        MOST_BATCHES + 10,
    ]


def test_refusals_are_counted_by_code_with_their_last_reason() -> None:
    history = EngineHistory()
    history.turned_away("queue_full", 3)
    history.refused(Refusal("k", "deadline_exceeded", "too late"))
    history.refused(Refusal("l", "deadline_exceeded", "later still"))
    assert history.refusals() == (
        RefusalCount("queue_full", 3, ""),
        RefusalCount("deadline_exceeded", 2, "later still"),
    )
