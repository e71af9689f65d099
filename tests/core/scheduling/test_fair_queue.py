"""Fair queues of members, and of documents by model and client."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.scheduling.fair_queue import FairQueue, FairShareQueue
from service.core.types import Submission
from tests.support.submissions import submission


def serve(queue: FairQueue[str], times: int, cost: float = 1.0) -> Counter[str]:
    served: Counter[str] = Counter()
    for _ in range(times):
        member = next(queue.in_order())
        queue.charge(member, cost)
        served[member] += 1
    return served


def test_a_charge_that_does_not_move_a_member_leaves_it_in_its_one_place() -> None:
    queue: FairQueue[str] = FairQueue()
    for name in "ab":
        queue.join(name)
    queue.charge("a", 0.0)
    queue.charge("b", 1e9)
    queue.charge("b", 1e-9)
    assert list(queue.in_order()) == ["a", "b"]


def test_a_member_of_half_the_weight_gets_half_as_much() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.join("full", 1.0)
    queue.join("half", 0.5)
    assert serve(queue, 30) == {"full": 20, "half": 10}


def test_a_long_job_is_not_starved_by_an_endless_stream_of_newcomers() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.join("long")
    served_long = 0
    for number in range(200):
        queue.join(f"short{number}")
        for _ in range(2):
            member = next(queue.in_order())
            queue.charge(member, 1.0)
            if member == "long":
                served_long += 1
            else:
                queue.leave(member)
    assert served_long > 150


def test_a_member_s_last_work_is_charged_as_it_leaves() -> None:
    """A newcomer begins where the others would be had the member been charged first."""
    orders = []
    for leaves_at_once in (True, False):
        queue: FairQueue[str] = FairQueue()
        for name, served in (("a", 0.0), ("b", 6.0), ("c", 2.0)):
            queue.join(name)
            queue.charge(name, served)
        if leaves_at_once:
            queue.leave("a", 9.0)
        else:
            queue.charge("a", 9.0)
            queue.leave("a")
        queue.join("new")
        orders.append(list(queue.in_order()))
    assert orders[0] == orders[1] == ["c", "b", "new"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["join", "leave", "charge"]), st.integers(0, 9), st.integers(1, 50))))
def test_the_order_is_that_of_the_definition(events: list[tuple[str, int, int]]) -> None:
    """Against processor sharing written down plainly: a tag for each member, and one virtual time."""
    queue: FairQueue[int] = FairQueue()
    tags: dict[int, tuple[float, int]] = {}
    virtual, arrivals = 0.0, 0
    for what, member, cost in events:
        if what == "join":
            queue.join(member)
            if member not in tags:
                tags[member] = (virtual, arrivals)
                arrivals += 1
        elif what == "leave":
            queue.leave(member)
            tags.pop(member, None)
        elif member in tags:
            queue.charge(member, cost)
            tag, arrival = tags[member]
            tags[member] = (tag + cost, arrival)
            virtual += cost / len(tags)
    assert list(queue.in_order()) == sorted(tags, key=tags.__getitem__)


def turns(*submissions: Submission) -> FairShareQueue:
    made = FairShareQueue()
    for each in submissions:
        made.join(each, 1.0)
    return made


def test_who_took_the_least_is_next_on_each_level() -> None:
    a, b, other = submission("a", 10), submission("b", 10), submission("o", 10, client="other")
    queue = turns(a, b, other)
    assert list(queue.documents("m")) == ["a", "b", "o"]
    queue.charge(a, 10)
    assert list(queue.documents("m")) == ["o", "b", "a"]


def test_the_last_tokens_of_a_document_count_for_its_client_and_its_model() -> None:
    a = submission("a", 10)
    queue = turns(a, submission("b", 10), submission("o", 10, client="other"), submission("n", 10, model="n"))
    queue.leave(a, 10)
    assert list(queue.documents("m")) == ["o", "b"]
    assert queue.models() == ["n", "m"]


def test_a_model_without_documents_has_no_turn() -> None:
    a, b = submission("a", 10, model="m"), submission("b", 10, model="n")
    queue = turns(a, b)
    queue.leave(a)
    assert queue.models() == ["n"]
    assert list(queue.documents("m")) == []
    queue.leave(a)
    assert queue.models() == ["n"]


def test_urgent_documents_go_before_others_of_their_client_only() -> None:
    queue = turns(submission("o", 10, client="other"), submission("a", 10), submission("b", 10), submission("c", 10))
    queue.prioritize([submission("c", 10), submission("gone", 10)])
    assert list(queue.documents("m")) == ["o", "c", "a", "b"]
    queue.prioritize([])
    assert list(queue.documents("m")) == ["o", "a", "b", "c"]
