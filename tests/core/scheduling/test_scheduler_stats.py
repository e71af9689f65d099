"""Whatever happens to a queue in whatever order, every submission ends once and the sums are right."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.types import Batch, Priority, Submission
from tests.support.budgets import FixedBudget
from tests.support.submissions import FAR


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
