"""Every submission is answered once, batches keep their budget, nobody is starved."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.core.memory import FixedBudget
from service.core.scheduler import Limits, Scheduler
from service.core.sequence import Batch, Priority, Shape, Submission

FAR = 1e9


def submission(key: str, *lengths: int, **other: object) -> Submission:
    values: dict[str, object] = {
        "model": "m",
        "client": "c",
        "priority": Priority.INTERACTIVE,
        "deadline_seconds": FAR,
        **other,
    }
    return Submission(key=key, lengths=lengths, **values)  # type: ignore[arg-type]


def scheduler(queue_tokens: int = 10_000) -> Scheduler:
    return Scheduler(Limits(queue_tokens))


def keys(batch: Batch | None) -> list[str]:
    return [sequence.key for sequence in batch.sequences] if batch else []


def test_a_lone_document_runs_at_once() -> None:
    queue = scheduler()
    assert queue.admit(submission("a", 10, 20), 0.0, None) is None
    batch = queue.next_batch(FixedBudget(512, 0))
    assert batch is not None
    assert [(s.key, s.index, s.tokens) for s in batch.sequences] == [("a", 0, 10), ("a", 1, 20)]
    assert batch.tokens == 30


def test_nothing_waits_then_no_batch() -> None:
    assert scheduler().next_batch(FixedBudget(512, 0)) is None


def test_a_full_queue_refuses_and_says_for_how_long() -> None:
    queue = scheduler(queue_tokens=100)
    assert queue.admit(submission("a", 80), 0.0, 10.0) is None
    refusal = queue.admit(submission("b", 40), 0.0, 10.0)
    assert refusal is not None
    assert refusal.code == "queue_full"
    assert refusal.retry_after_seconds == pytest.approx(2.0)


def test_a_document_longer_than_the_queue_limit_passes_when_nothing_else_waits() -> None:
    queue = scheduler(queue_tokens=100)
    assert queue.admit(submission("a", *[50] * 10), 0.0, None) is None


class FewSequences(FixedBudget):
    """Admits a batch only while its sequences are few."""

    def admits(self, model: str, shape: Shape) -> bool:
        return shape.sequences <= 2


def test_a_batch_is_never_of_a_shape_that_the_memory_model_does_not_admit() -> None:
    queue = scheduler()
    queue.admit(submission("a", *[10] * 5), 0.0, None)
    shapes = [batch.shape if (batch := queue.next_batch(FewSequences(1_000, 0))) else None for _ in range(4)]
    assert shapes == [Shape(20, 10, 2), Shape(20, 10, 2), Shape(10, 10, 1), None]


def test_a_deadline_that_cannot_be_met_is_refused_at_the_door() -> None:
    queue = scheduler()
    queue.admit(submission("a", 400), 0.0, 100.0)
    refusal = queue.admit(submission("b", 400, deadline_seconds=5.0), 0.0, 100.0)
    assert refusal is not None
    assert refusal.code == "deadline_exceeded"
    assert queue.admit(submission("c", 400, deadline_seconds=10.0), 0.0, 100.0) is None


def test_a_short_document_is_not_refused_for_a_long_one_before_it() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    queue.admit(submission("long", *[500] * 1000), 0.0, 1000.0)
    assert queue.admit(submission("short", 100, deadline_seconds=1.0), 0.0, 1000.0) is None


def test_who_waited_too_long_expires() -> None:
    queue = scheduler()
    queue.admit(submission("a", 100, deadline_seconds=5.0), 0.0, None)
    assert queue.expire(4.9, None) == []
    assert [refusal.key for refusal in queue.expire(5.1, None)] == ["a"]
    assert queue.next_batch(FixedBudget(512, 0)) is None
    assert "a" not in queue


def test_expiry_looks_ahead_by_the_time_that_is_still_needed() -> None:
    queue = scheduler()
    queue.admit(submission("a", 100, deadline_seconds=5.0), 0.0, 100.0)
    assert [refusal.code for refusal in queue.expire(4.1, 100.0)] == ["deadline_exceeded"]


def test_a_cancelled_document_is_not_run() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    queue.admit(submission("b", 10), 0.0, None)
    assert queue.cancel("a")
    assert not queue.cancel("a")
    assert keys(queue.next_batch(FixedBudget(512, 0))) == ["b"]


def test_cancelling_what_runs_leaves_the_count_right() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10, 500), 0.0, None)
    batch = queue.next_batch(FixedBudget(100, 0))
    assert batch is not None
    queue.cancel("a")
    queue.delivered(batch)
    assert queue.load(0.0).running_tokens == 0
    assert queue.load(0.0).tokens == 0
    assert len(queue) == 0


def test_the_same_key_twice_counts_once() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    assert queue.admit(submission("a", 10), 0.0, None) is None
    assert queue.load(0.0).tokens == 10


def test_a_long_document_does_not_block_a_short_one() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    queue.admit(submission("long", *[512] * 100), 0.0, None)
    queue.next_batch(FixedBudget(2048, 0))
    queue.admit(submission("short", 50), 0.0, None)
    assert "short" in keys(queue.next_batch(FixedBudget(2048, 0)))


def test_short_documents_fill_the_gap_that_a_long_one_leaves() -> None:
    queue = scheduler()
    queue.admit(submission("a", 400), 0.0, None)
    queue.admit(submission("b", 400), 0.0, None)
    queue.admit(submission("c", 100), 0.0, None)
    assert keys(queue.next_batch(FixedBudget(512, 0))) == ["a", "c"]
    assert keys(queue.next_batch(FixedBudget(512, 0))) == ["b"]


def test_clients_share_however_many_documents_they_bring() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    for number in range(50):
        queue.admit(submission(f"greedy{number}", 100, client="greedy"), 0.0, None)
    for number in range(5):
        queue.admit(submission(f"modest{number}", 100, client="modest"), 0.0, None)
    first = Counter(key[:6] for _ in range(2) for key in keys(queue.next_batch(FixedBudget(512, 0))))
    assert first == {"greedy": 5, "modest": 5}


def test_batch_work_yields_to_interactive_work_and_is_not_starved() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    for number in range(100):
        queue.admit(submission(f"b{number}", 100, priority=Priority.BATCH), 0.0, None)
        queue.admit(submission(f"i{number}", 100), 0.0, None)
    first = Counter(key[0] for _ in range(17) for key in keys(queue.next_batch(FixedBudget(400, 0))))
    assert first["i"] > 55
    assert first["b"] >= 2


def test_models_are_not_mixed_and_take_turns() -> None:
    queue = scheduler()
    for number in range(4):
        queue.admit(submission(f"x{number}", 100, model="x"), 0.0, None)
        queue.admit(submission(f"y{number}", 100, model="y"), 0.0, None)
    batches = [queue.next_batch(FixedBudget(200, 0)) for _ in range(4)]
    assert [batch.model for batch in batches if batch] == ["x", "y", "x", "y"]
    assert all(key.startswith(batch.model) for batch in batches if batch for key in keys(batch))


def test_a_suspect_runs_alone() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    queue.admit(submission("suspect", 10, 10, attempt=1), 0.0, None)
    queue.admit(submission("b", 10), 0.0, None)
    assert [keys(queue.next_batch(FixedBudget(512, 0))) for _ in range(2)] == [["a", "b"], ["suspect", "suspect"]]


def test_load_says_what_waits_and_for_how_long() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10, 20), 1.0, None)
    queue.admit(submission("b", 30), 2.0, None)
    load = queue.load(5.0)
    assert (load.documents, load.sequences, load.tokens, load.oldest_age_seconds) == (2, 3, 60, 4.0)


def test_a_model_with_a_greater_weight_gets_more_of_the_device() -> None:
    queue = scheduler()
    queue.weigh("heavy", 3.0)
    queue.weigh("light", 1.0)
    for model in ("light", "heavy"):
        queue.admit(submission(model, *[10] * 100, model=model), 0.0, None)
    batches = [queue.next_batch(FixedBudget(50, 0)) for _ in range(16)]
    assert Counter(batch.model for batch in batches if batch) == {"heavy": 12, "light": 4}


def test_models_that_wait_are_named_the_most_deserving_first() -> None:
    queue = scheduler()
    for model in ("x", "y"):
        queue.admit(submission(model, 10, 10, model=model), 0.0, None)
    assert queue.models() == ["x", "y"]
    assert keys(queue.next_batch_of("x", FixedBudget(10, 0))) == ["x"]
    assert queue.models() == ["y", "x"]
    assert queue.next_batch_of("nobody", FixedBudget(10, 0)) is None
    assert (queue.account("x").documents, queue.account("x").waiting_tokens) == (1, 10)


def test_a_model_that_fills_the_queue_does_not_shut_the_door_on_the_others() -> None:
    queue = scheduler(queue_tokens=100)
    queue.weigh("flood", 1.0)
    queue.weigh("quiet", 1.0)
    assert queue.admit(submission("a", 100, model="flood"), 0.0, 10.0) is None
    assert queue.admit(submission("b", 50, model="quiet"), 0.0, 10.0) is None
    for key, model in (("c", "flood"), ("d", "quiet")):
        refusal = queue.admit(submission(key, 10, model=model), 0.0, 10.0)
        assert refusal is not None
        assert refusal.code == "queue_full"


class Device:
    """1,000 tokens a second in batches of 400, on a clock of its own; `slower`: what it really does of that."""

    SPEED = 1_000.0

    def __init__(self, slower: float = 1.0) -> None:
        self.queue = scheduler(queue_tokens=1_000_000)
        self.slower = slower
        self.free_at = 0.0
        self.batch: Batch | None = None
        self.left: dict[str, tuple[int, float]] = {}
        self.kept = self.broken = 0

    def arrive(self, number: int, lengths: tuple[int, ...], now: float) -> None:
        new = submission(str(number), *lengths, deadline_seconds=now + 4.0)
        if self.queue.admit(new, now, self.SPEED) is None:
            self.left[new.key] = (len(lengths), now + 4.0)

    def step(self, now: float) -> None:
        for refusal in self.queue.expire(now, self.SPEED):
            del self.left[refusal.key]
            self.broken += 1
        if now >= self.free_at:
            if self.batch is not None:
                self.queue.delivered(self.batch)
                for key in keys(self.batch):
                    self.note(key, now)
            self.batch = self.queue.next_batch(FixedBudget(400, 0))
            self.free_at = now + self.batch.tokens / (self.SPEED * self.slower) if self.batch else now

    def note(self, key: str, now: float) -> None:
        if key in self.left:
            sequences, deadline = self.left.pop(key)
            if sequences > 1:
                self.left[key] = (sequences - 1, deadline)
            else:
                self.kept += now <= deadline
                self.broken += now > deadline

    def run(self, lengths: tuple[int, ...], seconds: float, times: float) -> float:
        """Ask for so many times of what it can; the share of its work that went into answers in time."""
        now = next_arrival = 0.0
        number = 0
        while now < seconds:
            if now >= next_arrival:
                self.arrive(number, lengths, now)
                number, next_arrival = number + 1, now + sum(lengths) / self.SPEED / times
            self.step(now)
            now = min(next_arrival, self.free_at) if self.batch else next_arrival
        return self.kept * sum(lengths) / (seconds * self.SPEED * self.slower)


@pytest.mark.parametrize("lengths", [(200,), (200,) * 5, (390,) * 3], ids=str)
@pytest.mark.parametrize("times", [1.5, 10.0])
def test_in_overload_all_that_is_let_in_keeps_its_deadline(lengths: tuple[int, ...], times: float) -> None:
    """Also long documents: fair sharing alone lets them advance side by side until all of them are late."""
    device = Device()
    goodput = device.run(lengths, 120.0, times)
    assert device.broken == 0
    assert goodput > 0.9


def test_a_device_that_is_slower_than_believed_answers_in_time_what_it_goes_on_with() -> None:
    """Some must be given up; they are given up early, and the work goes to those that can be in time."""
    assert Device(slower=0.8).run((200,) * 5, 120.0, 10.0) > 0.7


def test_who_runs_out_of_slack_goes_first_among_its_client_and_takes_nobody_elses_turn() -> None:
    queue = scheduler()
    queue.admit(submission("later", 100, deadline_seconds=100.0), 0.0, 100.0)
    queue.admit(submission("hurried", 100, deadline_seconds=10.0), 1.0, 100.0)
    queue.admit(submission("other", 100, client="d"), 1.0, 100.0)
    queue.expire(8.5, 100.0)
    assert keys(queue.next_batch(FixedBudget(200, 0))) == ["hurried", "other"]


def test_a_document_with_an_early_deadline_is_refused_where_it_would_break_a_promise() -> None:
    queue = scheduler()
    assert queue.admit(submission("promised", 400, deadline_seconds=5.0), 0.0, 100.0) is None
    queue.expire(0.1, 100.0)
    refusal = queue.admit(submission("pusher", 100, deadline_seconds=4.9), 0.1, 100.0)
    assert refusal is not None
    assert "would miss their deadlines" in refusal.detail


class QueueMachine(RuleBasedStateMachine):
    """Whatever happens in whatever order: each document ends exactly once, and the books balance."""

    BUDGET = 200

    def __init__(self) -> None:
        super().__init__()
        self.queue = Scheduler(Limits(2_000))
        self.now = 0.0
        self.number = 0
        self.open: dict[str, Submission] = {}
        self.judged: dict[str, set[int]] = {}
        self.running: list[Batch] = []

    @rule(
        lengths=st.lists(st.integers(1, 200), min_size=1, max_size=6),
        client=st.sampled_from("ab"),
        model=st.sampled_from("xy"),
        priority=st.sampled_from(list(Priority)),
        patience=st.sampled_from([1.0, 20.0, FAR]),
        attempt=st.sampled_from([0, 0, 0, 1]),
        speed=st.sampled_from([None, 100.0]),
    )
    def submit(
        self,
        lengths: list[int],
        client: str,
        model: str,
        priority: Priority,
        patience: float,
        attempt: int,
        speed: float | None,
    ) -> None:
        self.number += 1
        new = Submission(
            key=str(self.number),
            model=model,
            lengths=tuple(lengths),
            client=client,
            priority=priority,
            deadline_seconds=self.now + patience,
            attempt=attempt,
        )
        if self.queue.admit(new, self.now, speed) is None:
            self.open[new.key] = new
            self.judged[new.key] = set()
        assert (new.key in self.queue) == (new.key in self.open)

    @rule(seconds=st.floats(0.0, 5.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        for refusal in self.queue.expire(self.now, None):
            assert self.open.pop(refusal.key).deadline_seconds < self.now

    @rule()
    def launch(self) -> None:
        waiting = self.queue.waiting_tokens
        batch = self.queue.next_batch(FixedBudget(self.BUDGET, 0))
        assert (batch is None) == (waiting == 0)
        if batch is None:
            return
        assert 0 < batch.tokens <= self.BUDGET
        documents = {sequence.key: self.open[sequence.key] for sequence in batch.sequences}
        assert {document.model for document in documents.values()} == {batch.model}
        assert len(documents) == 1 or not any(document.attempt for document in documents.values())
        for sequence in batch.sequences:
            assert sequence.index not in self.judged[sequence.key]
            assert documents[sequence.key].lengths[sequence.index] == sequence.tokens
            self.judged[sequence.key].add(sequence.index)
        self.running.append(batch)

    @precondition(lambda self: self.running)
    @rule()
    def deliver(self) -> None:
        batch = self.running.pop(0)
        self.queue.delivered(batch)
        flying = {sequence.key for other in self.running for sequence in other.sequences}
        for key in {sequence.key for sequence in batch.sequences} & self.open.keys():
            if len(self.judged[key]) == len(self.open[key].lengths) and key not in flying:
                del self.open[key]

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.open)))
        assert self.queue.cancel(key)
        del self.open[key]

    @invariant()
    def the_books_balance(self) -> None:
        waiting = [
            length
            for key, document in self.open.items()
            for index, length in enumerate(document.lengths)
            if index not in self.judged[key]
        ]
        load = self.queue.load(self.now)
        assert (load.sequences, load.tokens) == (len(waiting), sum(waiting))
        assert load.running_tokens == sum(batch.tokens for batch in self.running)
        assert len(self.queue) == len(self.open)


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
