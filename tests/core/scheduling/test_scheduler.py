"""Batches of what waits: within the budget, without gaps, suspects alone, and right sums."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.types import Batch, Priority, Shape, Submission
from tests.support.budgets import FixedBudget
from tests.support.submissions import FAR, keys, scheduler, submission


class FewSequences(FixedBudget):
    """Admits a batch only while its sequences are few."""

    def admits(self, model: str, shape: Shape) -> bool:
        return shape.sequences <= 2


def test_a_batch_is_never_of_a_shape_that_the_memory_model_does_not_admit() -> None:
    queue = scheduler()
    queue.admit(submission("a", *[10] * 5), 0.0, None)
    shapes = [batch.shape if (batch := queue.next_batch(FewSequences(1_000))) else None for _ in range(4)]
    assert shapes == [Shape(20, 10, 2), Shape(20, 10, 2), Shape(10, 10, 1), None]


def test_a_cancelled_document_is_not_run() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None, "payload of a")
    queue.admit(submission("b", 10), 0.0, None)
    assert queue.cancel("a") == "payload of a"
    assert queue.cancel("a") is None
    assert keys(queue.next_batch(FixedBudget(512))) == ["b"]


def test_the_same_key_twice_counts_once() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    assert queue.admit(submission("a", 10), 0.0, None) is None
    assert queue.load(0.0).tokens == 10


def test_a_long_document_does_not_block_a_short_one() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    queue.admit(submission("long", *[512] * 100), 0.0, None)
    queue.next_batch(FixedBudget(2048))
    queue.admit(submission("short", 50), 0.0, None)
    assert "short" in keys(queue.next_batch(FixedBudget(2048)))


def _two_priorities(**suspect: int) -> Scheduler[str]:
    queue = scheduler()
    for number in range(3):
        queue.admit(submission(f"bulk{number}", 20, priority=Priority.BATCH), 0.0, None)
    queue.admit(submission("asked", 20), 0.0, None)
    queue.admit(submission("suspect", 20, **suspect), 0.0, None)
    return queue


def test_batches_that_do_not_mix_have_one_priority_each() -> None:
    queue = _two_priorities()
    found = [queue.next_batch_of("m", FixedBudget(512), mixed=False) for _ in range(3)]
    assert [keys(batch) for batch in found] == [["bulk0", "bulk1", "bulk2"], ["asked", "suspect"], []]
    assert [queue.is_batch_work(batch) for batch in found if batch] == [True, False]


def test_interactive_work_beside_a_batch_is_without_what_must_run_alone() -> None:
    queue = _two_priorities(attempt=1)
    bulk = queue.next_batch_of("m", FixedBudget(512), mixed=False)
    assert bulk is not None
    assert keys(queue.interactive_batch_of("m", FixedBudget(512), [bulk])) == ["asked"]
    assert queue.interactive_batch_of("m", FixedBudget(512), [bulk]) is None
    suspect = queue.next_batch_of("m", FixedBudget(512), mixed=False)
    assert keys(suspect) == ["suspect"]
    queue.admit(submission("later", 20), 0.0, None)
    assert queue.interactive_batch_of("m", FixedBudget(512), [suspect] if suspect else []) is None


def test_short_documents_fill_the_gap_that_a_long_one_leaves() -> None:
    queue = scheduler()
    queue.admit(submission("a", 400), 0.0, None)
    queue.admit(submission("b", 400), 0.0, None)
    queue.admit(submission("c", 100), 0.0, None)
    assert keys(queue.next_batch(FixedBudget(512))) == ["a", "c"]
    assert keys(queue.next_batch(FixedBudget(512))) == ["b"]


def test_a_suspect_runs_alone() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    queue.admit(submission("suspect", 10, 10, attempt=1), 0.0, None)
    queue.admit(submission("b", 10), 0.0, None)
    assert [keys(queue.next_batch(FixedBudget(512))) for _ in range(2)] == [["a", "b"], ["suspect", "suspect"]]


def test_load_says_what_waits_and_for_how_long() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10, 20), 1.0, None)
    queue.admit(submission("b", 30), 2.0, None)
    load = queue.load(5.0)
    assert (load.documents, load.sequences, load.tokens, load.oldest_age_seconds) == (2, 3, 60, 4.0)


def test_clients_share_however_many_documents_they_bring() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    for number in range(50):
        queue.admit(submission(f"greedy{number}", 100, client="greedy"), 0.0, None)
    for number in range(5):
        queue.admit(submission(f"modest{number}", 100, client="modest"), 0.0, None)
    first = Counter(key[:6] for _ in range(2) for key in keys(queue.next_batch(FixedBudget(512))))
    assert first == {"greedy": 5, "modest": 5}


def test_batch_work_yields_to_interactive_work_and_is_not_starved() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    for number in range(100):
        queue.admit(submission(f"b{number}", 100, priority=Priority.BATCH), 0.0, None)
        queue.admit(submission(f"i{number}", 100), 0.0, None)
    first = Counter(key[0] for _ in range(17) for key in keys(queue.next_batch(FixedBudget(400))))
    assert first["i"] > 55
    assert first["b"] >= 2


def test_models_are_not_mixed_and_take_turns() -> None:
    queue = scheduler()
    for number in range(4):
        queue.admit(submission(f"x{number}", 100, model="x"), 0.0, None)
        queue.admit(submission(f"y{number}", 100, model="y"), 0.0, None)
    batches = [queue.next_batch(FixedBudget(200)) for _ in range(4)]
    assert [batch.model for batch in batches if batch] == ["x", "y", "x", "y"]
    assert all(key.startswith(batch.model) for batch in batches if batch for key in keys(batch))


def test_a_model_with_a_greater_weight_gets_more_of_the_device() -> None:
    queue = scheduler()
    queue.set_weight("heavy", 3.0)
    queue.set_weight("light", 1.0)
    for model in ("light", "heavy"):
        queue.admit(submission(model, *[10] * 100, model=model), 0.0, None)
    batches = [queue.next_batch(FixedBudget(50)) for _ in range(16)]
    assert Counter(batch.model for batch in batches if batch) == {"heavy": 12, "light": 4}


def test_models_that_wait_are_named_the_most_deserving_first() -> None:
    queue = scheduler()
    for model in ("x", "y"):
        queue.admit(submission(model, 10, 10, model=model), 0.0, None)
    assert queue.models() == ["x", "y"]
    assert keys(queue.next_batch_of("x", FixedBudget(10))) == ["x"]
    assert queue.models() == ["y", "x"]
    assert queue.next_batch_of("nobody", FixedBudget(10)) is None
    assert (queue.stats("x").documents, queue.stats("x").waiting_tokens) == (1, 10)


class QueueMachine(RuleBasedStateMachine):
    """Whatever happens in whatever order: each document ends exactly once, and the sums are right."""

    BUDGET = 200

    def __init__(self) -> None:
        super().__init__()
        self.queue: Scheduler[str] = Scheduler(QueueLimits(2_000))
        self.now = 0.0
        self.number = 0
        self.open: dict[str, Submission] = {}
        self.launched: dict[str, set[int]] = {}
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
        if self.queue.admit(new, self.now, speed, new.key) is None:
            self.open[new.key] = new
            self.launched[new.key] = set()
        assert (new.key in self.queue) == (new.key in self.open)

    @rule(seconds=st.floats(0.0, 5.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        for refusal, payload in self.queue.expire(self.now, None):
            assert payload == refusal.key
            assert self.open.pop(refusal.key).deadline_seconds < self.now

    @rule()
    def launch(self) -> None:
        waiting = self.queue.waiting_tokens
        batch = self.queue.next_batch(FixedBudget(self.BUDGET))
        assert (batch is None) == (waiting == 0)
        if batch is None:
            return
        assert 0 < batch.tokens <= self.BUDGET
        documents = {sequence.key: self.open[sequence.key] for sequence in batch.sequences}
        assert {document.model for document in documents.values()} == {batch.model}
        assert len(documents) == 1 or not any(document.attempt for document in documents.values())
        for sequence in batch.sequences:
            assert sequence.index not in self.launched[sequence.key]
            assert documents[sequence.key].lengths[sequence.index] == sequence.tokens
            self.launched[sequence.key].add(sequence.index)
        self.running.append(batch)

    @precondition(lambda self: self.running)
    @rule()
    def deliver(self) -> None:
        batch = self.running.pop(0)
        self.queue.delivered(batch)
        running = {sequence.key for other in self.running for sequence in other.sequences}
        for key in {sequence.key for sequence in batch.sequences} & self.open.keys():
            if len(self.launched[key]) == len(self.open[key].lengths) and key not in running:
                del self.open[key]

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.open)))
        assert self.queue.cancel(key) == key
        del self.open[key]

    @invariant()
    def the_sums_are_right(self) -> None:
        waiting = [
            length
            for key, document in self.open.items()
            for index, length in enumerate(document.lengths)
            if index not in self.launched[key]
        ]
        load = self.queue.load(self.now)
        assert (load.sequences, load.tokens) == (len(waiting), sum(waiting))
        assert load.running_tokens == sum(batch.tokens for batch in self.running)
        assert len(self.queue) == len(self.open)


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


def test_an_admitted_document_names_its_client() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10, client="acme"), 0.0, None)
    assert (queue.client("a"), queue.client("b")) == ("acme", None)
