"""A few requests begin in each turn: in order, but the newest first while the oldest is late."""

from __future__ import annotations

from service.core.admission.head import AdmittedRequest, StartQueue


def admitted(at: float, deadline: float = 1.0) -> AdmittedRequest:
    return AdmittedRequest((0, 0), deadline, at)


def test_a_few_requests_begin_in_each_turn_in_order_of_arrival() -> None:
    starts: StartQueue[int] = StartQueue()
    assert [starts.may_begin(0.0) for _ in range(5)] == [True, True, True, True, False]
    for number in range(6):
        starts.wait(number, admitted(0.0))
    assert starts.next_turn(0.1) == [0, 1, 2, 3]
    assert not starts.may_begin(0.2), "those that wait come first"
    starts.wait(99, admitted(0.2))
    assert len(starts) == 3
    assert starts.next_turn(0.2) == [4, 5, 99]
    assert starts.may_begin(0.2)
    assert not starts.may_begin(0.2), "of this turn four have begun"
    assert starts.may_begin(0.3)


def test_while_the_oldest_is_late_the_newest_begin_first_and_nobody_with_minutes_to_spare_is_late() -> None:
    for deadline, expected in ((1.0, [19, 18, 17, 16]), (300.0, [0, 1, 2, 3])):
        starts: StartQueue[int] = StartQueue()
        for number in range(20):
            starts.wait(number, admitted(0.0, deadline))
        assert starts.next_turn(0.5) == expected
