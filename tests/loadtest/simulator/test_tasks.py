"""What is due happens in order, also what becomes due while it happens."""

from __future__ import annotations

from loadtest.simulator.tasks import Action, EventQueue


def test_what_is_due_happens_in_order_and_nothing_else() -> None:
    event_queue, seen = EventQueue(), list[tuple[str, float]]()

    def note(name: str) -> Action:
        return lambda now: seen.append((name, now))

    event_queue.at(5.0, note("second"))
    event_queue.at(5.0, note("third"))
    event_queue.at(1.0, note("first"))
    event_queue.at(9.0, note("not yet"))
    event_queue.run_due(6.0)
    assert seen == [("first", 6.0), ("second", 6.0), ("third", 6.0)]
    assert event_queue.next_seconds == 9.0
