"""What is due happens in order, also what becomes due while it happens."""

from __future__ import annotations

from functools import partial

from loadtest.simulator.tasks import Action, Agenda


def test_what_is_due_happens_in_order_and_nothing_else() -> None:
    agenda, seen = Agenda(), list[tuple[str, float]]()

    def note(name: str) -> Action:
        return lambda now: seen.append((name, now))

    agenda.at(5.0, note("second"))
    agenda.at(5.0, note("third"))
    agenda.at(1.0, note("first"))
    agenda.at(9.0, note("not yet"))
    agenda.happen(6.0)
    assert seen == [("first", 6.0), ("second", 6.0), ("third", 6.0)]
    assert agenda.next_seconds == 9.0


def test_what_becomes_due_meanwhile_happens_too() -> None:
    agenda, seen = Agenda(), list[float]()

    def again(left: int, now: float) -> None:
        seen.append(now)
        if left:
            agenda.at(now, partial(again, left - 1))

    agenda.at(2.0, partial(again, 2))
    agenda.happen(2.0)
    assert seen == [2.0, 2.0, 2.0]
    assert agenda.next_seconds == float("inf")
