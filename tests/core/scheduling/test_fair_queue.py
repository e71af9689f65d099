"""Members share by weight, whoever comes and goes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.scheduling.fair_queue import FairQueue


def serve(queue: FairQueue[str], times: int, cost: float = 1.0) -> Counter[str]:
    served: Counter[str] = Counter()
    for _ in range(times):
        member = next(queue.in_order())
        queue.charge(member, cost)
        served[member] += 1
    return served


def test_equal_members_are_served_equally() -> None:
    queue: FairQueue[str] = FairQueue()
    for name in "abc":
        queue.join(name)
    assert serve(queue, 30) == {"a": 10, "b": 10, "c": 10}


def test_a_member_of_half_the_weight_gets_half_as_much() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.join("full", 1.0)
    queue.join("half", 0.5)
    assert serve(queue, 30) == {"full": 20, "half": 10}


def test_a_newcomer_is_not_charged_for_the_past_and_does_not_starve_the_others() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.join("old")
    serve(queue, 100)
    queue.join("new")
    served = serve(queue, 20)
    assert abs(served["old"] - served["new"]) <= 1


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


def test_who_left_is_not_offered() -> None:
    queue: FairQueue[str] = FairQueue()
    for name in "abc":
        queue.join(name)
    queue.leave("a")
    queue.leave("nobody")
    assert list(queue.in_order()) == ["b", "c"]
    assert "a" not in queue
    assert len(queue) == 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["join", "leave", "charge"]), st.integers(0, 9), st.integers(1, 50))))
def test_order_holds_each_member_once_by_tag(events: list[tuple[str, int, int]]) -> None:
    queue: FairQueue[int] = FairQueue()
    owed: dict[int, float] = {}
    for what, member, cost in events:
        if what == "join":
            queue.join(member)
            owed.setdefault(member, 0.0)
        elif what == "leave":
            queue.leave(member)
            owed.pop(member, None)
        elif member in owed:
            queue.charge(member, cost)
    order = list(queue.in_order())
    assert sorted(order) == sorted(owed)
    assert [queue._shares[member].tag for member in order] == sorted(queue._shares[member].tag for member in order)
