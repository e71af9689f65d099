"""Whose turn it is: models, then clients, then documents, and within a client those that must hurry."""

from __future__ import annotations

from service.core.scheduling.fair_share import FairShareQueue
from service.core.types import Priority, Submission


def submission(key: str, model: str = "m", client: str = "c", priority: Priority = Priority.INTERACTIVE) -> Submission:
    return Submission(
        key=key, model=model, lengths=(10,), client=client, priority=priority, deadline_seconds=1e9, attempt=0
    )


def turns(*submissions: Submission) -> FairShareQueue:
    made = FairShareQueue()
    for each in submissions:
        made.join(each, 1.0)
    return made


def test_who_took_the_least_is_next_on_each_level() -> None:
    a, b, other = submission("a"), submission("b"), submission("o", client="other")
    queue = turns(a, b, other)
    assert list(queue.documents("m")) == ["a", "b", "o"]
    queue.charge(a, 10)
    assert list(queue.documents("m")) == ["o", "b", "a"]


def test_the_last_tokens_of_a_document_count_for_its_client_and_its_model() -> None:
    a = submission("a")
    queue = turns(a, submission("b"), submission("o", client="other"), submission("n", "n"))
    queue.leave(a, 10)
    assert list(queue.documents("m")) == ["o", "b"]
    assert queue.models() == ["n", "m"]


def test_a_model_without_documents_has_no_turn() -> None:
    a, b = submission("a", "m"), submission("b", "n")
    queue = turns(a, b)
    queue.leave(a)
    assert queue.models() == ["n"]
    assert list(queue.documents("m")) == []
    queue.leave(a)
    assert queue.models() == ["n"]


def test_urgent_documents_go_before_others_of_their_client_only() -> None:
    queue = turns(submission("o", client="other"), submission("a"), submission("b"), submission("c"))
    queue.prioritize([submission("c"), submission("gone")])
    assert list(queue.documents("m")) == ["o", "c", "a", "b"]
    queue.prioritize([])
    assert list(queue.documents("m")) == ["o", "a", "b", "c"]
