"""Fair to every client: what one client brings, however much or long, does not shut out or slow down another."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from msgspec.structs import replace

from service.core.tenants import ClientQuota
from service.core.types import Priority
from tests.support.budgets import FixedBudget
from tests.support.queue_simulation import Arrival, Outcome, simulate
from tests.support.submissions import keys, scheduler, submission

SPEED = 10_000.0
BATCH = 2_000
LIMIT = 50_000
DEADLINE = 300.0


def stream(
    client: str, count: int, every: float, *lengths: int, start: float = 0.0, left: float = DEADLINE
) -> list[Arrival]:
    """Documents of these lengths, one after the other, each with so much time left."""
    times = [start + number * every for number in range(count)]
    return [
        (at, submission(f"{client}{number}", *lengths, client=client, deadline_seconds=at + left))
        for number, at in enumerate(times)
    ]


def play(*streams: list[Arrival], queue_tokens: int = LIMIT) -> Outcome:
    arrivals = [arrival for stream in streams for arrival in stream]
    return simulate(arrivals, queue_tokens=queue_tokens, batch_tokens=BATCH, tokens_per_second=SPEED)


def test_a_document_four_times_the_queue_shuts_nobody_out() -> None:
    outcome = play(stream("a", 1, 1.0, *[500] * 400), stream("b", 219, 0.1, 40, start=0.5))
    assert outcome.refused["b"] == Counter()
    assert len(outcome.waits["b"]) == 219
    assert len(outcome.waits["a"]) == 1


def test_nor_does_one_among_documents_of_its_own_client() -> None:
    small = [
        (at, submission(f"s{n}", 40, client="a")) for n, (at, _) in enumerate(stream("s", 219, 0.1, 40, start=0.5))
    ]
    outcome = play(stream("a", 1, 1.0, *[500] * 400), small)
    assert outcome.refused["a"] == Counter()
    assert len(outcome.waits["a"]) == 220


def test_a_second_giant_does_not_follow_the_first_one_in() -> None:
    queue = scheduler(queue_tokens=1_000)
    assert queue.admit(submission("first", *[500] * 8), 0.0, SPEED) is None
    refusal = queue.admit(submission("second", *[500] * 8), 0.0, SPEED)
    assert refusal is not None
    assert refusal.code == "queue_full"


def test_a_document_that_needs_all_its_time_takes_none_of_others() -> None:
    giant = stream("a", 1, 1.0, *[500] * 5_990)
    outcome = play(giant, stream("b", 219, 0.1, 40, start=0.5, left=2.0), queue_tokens=10_000_000)
    assert outcome.refused["b"] == outcome.expired["b"] == Counter()


@pytest.mark.parametrize("left", [DEADLINE, 10.0])
def test_a_client_at_100_times_the_device_s_speed_harms_no_other(left: float) -> None:
    outcome = play(stream("a", 20_000, 0.001, 1_000, left=left), stream("b", 190, 0.1, 40, start=0.5, left=2.0))
    assert outcome.refused["b"] == outcome.expired["b"] == Counter()
    assert outcome.refused["a"].total() > 19_000
    assert outcome.expired["a"] == Counter()


def poisson(client: str, per_second: float, seconds: float, tokens: int) -> list[Arrival]:
    """Documents at random moments, from a seed."""
    chance, at, arrivals = random.Random(client), 0.0, []
    while (at := at + chance.expovariate(per_second)) < seconds:
        arrivals.append((at, submission(f"{client}{at}", tokens, client=client, deadline_seconds=at + DEADLINE)))
    return arrivals


def test_fifty_times_its_share_costs_another_a_quarter_and_a_batch_at_most() -> None:
    modest = poisson("b", 10.0, 60.0, 450)  # 45 % of the device, of which its share is half
    ordinary = play(poisson("a", 10.0, 60.0, 450), modest)
    greedy = play(poisson("a", 50 * 10.0, 60.0, 450), modest)
    assert greedy.refused["b"] == Counter()
    assert greedy.quantile("b", 0.99) <= 1.25 * ordinary.quantile("b", 0.99) + BATCH / SPEED
    assert greedy.refused["a"].total() > 28_000


def test_many_clients_bring_what_waits_to_a_small_multiple_of_the_limit() -> None:
    floods = [stream(f"client{n}", 500, 0.002, 500) for n in range(20)]
    assert play(*floods).most_waiting <= LIMIT * sum(1 / n for n in range(1, 21))


def test_a_client_of_twice_the_weight_gets_twice_of_device_and_queue() -> None:
    queue = scheduler(queue_tokens=3_000)
    quota = {"light": ClientQuota(), "heavy": ClientQuota(weight=2.0)}
    admitted: Counter[str] = Counter()
    queue.admit(submission("light", 100, client="light"), 0.0, None)
    for number in range(100):
        for client in ("heavy", "light"):
            document = submission(f"{client}{number}", 100, client=client, quota=quota[client])
            admitted[client] += queue.admit(document, 0.0, None) is None
    assert admitted == {"heavy": 20, "light": 14}
    first = Counter(key[:5] for _ in range(5) for key in keys(queue.next_batch(FixedBudget(300))))
    assert first == {"heavy": 10, "light": 5}


def test_a_client_s_own_limits_hold_in_an_empty_queue() -> None:
    queue = scheduler(queue_tokens=10_000)
    two, few = ClientQuota(documents_in_flight=2), ClientQuota(queued_tokens=500)
    assert [queue.admit(submission(f"a{n}", 10, client="a", quota=two), 0.0, 10.0) is None for n in range(3)] == [
        True,
        True,
        False,
    ]
    refusal = queue.admit(submission("a3", 10, client="a", quota=two), 0.0, 10.0)
    assert refusal is not None
    assert refusal.code == "rate_limited"
    assert refusal.retry_after_seconds == pytest.approx(2.0)
    long = [queue.admit(submission(f"b{n}", 600, client="b", quota=few), 0.0, 10.0) for n in range(2)]
    assert long[0] is None, "a document that is larger than the limit passes when nothing of its client waits"
    assert long[1] is not None
    assert "500" in long[1].detail
    queue.cancel("b0")
    assert queue.admit(submission("b2", 500, client="b", quota=few), 0.0, 10.0) is None


def test_what_a_dead_engine_had_admitted_is_admitted_again_in_any_order() -> None:
    queue, quota = scheduler(queue_tokens=1_000), ClientQuota(documents_in_flight=15, queued_tokens=1_000)
    offered = [submission(f"{client}{n}", 100, client=client, quota=quota) for client in "abc" for n in range(15)]
    admitted = [each for each in offered if queue.admit(each, 0.0, SPEED) is None]
    assert sum(each.tokens for each in admitted) > 1_500
    successor = scheduler(queue_tokens=1_000)
    again = [replace(each, readmitted=True) for each in reversed(admitted)]
    assert [successor.admit(each, 0.0, SPEED) for each in again] == [None] * len(admitted)
    refusal = successor.admit(submission("new", 100, client="c", quota=quota), 0.0, SPEED)
    assert refusal is not None


BUDGET = FixedBudget(1_000)


def test_a_small_backlog_batch_holds_all_of_small_clients_alone() -> None:
    queue = scheduler()
    for number in range(9):
        queue.admit(submission(f"flood{number}", 200, client="flood"), 0.0, None)
    queue.admit(submission("one", 20, 10, client="one"), 0.0, None)
    queue.admit(submission("two", 50, client="two"), 0.0, None)
    queue.admit(submission("nightly", 10, client="two", priority=Priority.BATCH), 0.0, None)
    batch = queue.small_backlog_batch_of("m", BUDGET, ())
    assert batch is not None
    assert keys(batch) == ["one", "one", "two"]
    assert queue.load(0.0).running_tokens == batch.tokens == 80
    assert queue.small_backlog_batch_of("m", BUDGET, ()) is None
    queue.delivered(batch)
    assert "one" not in queue
    assert len(keys(queue.next_batch(BUDGET))) > 1


def test_many_small_clients_make_a_regular_batch() -> None:
    queue = scheduler()
    for number in range(6):
        queue.admit(submission(f"k{number}", 100, client=f"c{number}"), 0.0, None)
    assert queue.small_backlog_batch_of("m", BUDGET, ()) is None
    assert len(keys(queue.next_batch(BUDGET))) == 6


def test_what_an_engine_died_on_is_in_no_small_backlog_batch() -> None:
    queue = scheduler()
    queue.admit(submission("suspect", 20, client="a", attempt=1), 0.0, None)
    queue.admit(submission("other", 20, client="b"), 0.0, None)
    assert keys(queue.small_backlog_batch_of("m", BUDGET, ())) == ["other"]


def test_a_small_backlog_batch_fits_the_memory_that_there_is() -> None:
    queue = scheduler()
    for number in range(3):
        queue.admit(submission(f"k{number}", 40, client=f"c{number}"), 0.0, None)

    class Short(FixedBudget):
        def admits(self, model: str, shape: object) -> bool:
            return super().admits(model, shape) and shape.tokens <= 80  # type: ignore[attr-defined, arg-type]

    assert keys(queue.small_backlog_batch_of("m", Short(1_000), ())) == ["k0", "k1"]


def test_a_client_that_is_being_served_is_in_no_small_backlog_batch() -> None:
    """A client that floods with single documents may have little waiting at a time; to part them would gain nobody."""
    queue = scheduler()
    queue.admit(submission("a0", 40, client="a"), 0.0, None)
    running = queue.next_batch(BUDGET)
    assert running is not None
    queue.admit(submission("a1", 40, client="a"), 0.0, None)
    assert queue.small_backlog_batch_of("m", BUDGET, [running]) is None
    queue.admit(submission("b", 40, client="b"), 0.0, None)
    assert keys(queue.small_backlog_batch_of("m", BUDGET, [running])) == ["b"]
    queue.cancel("a0")
    assert keys(queue.small_backlog_batch_of("m", BUDGET, [running])) == ["a1"]


def test_there_is_no_small_backlog_batch_while_a_suspect_runs() -> None:
    queue = scheduler()
    queue.admit(submission("suspect", 40, client="a", attempt=1), 0.0, None)
    running = queue.next_batch(BUDGET)
    assert running is not None
    queue.admit(submission("b", 40, client="b"), 0.0, None)
    assert queue.small_backlog_batch_of("m", BUDGET, [running]) is None
