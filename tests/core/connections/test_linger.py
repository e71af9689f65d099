"""After its last answer a connection lingers: for a time, and for so many bytes."""

from __future__ import annotations

from service.core.connections.transfers import ALL_THAT_COMES, Linger


def test_it_is_over_when_its_time_has_passed() -> None:
    linger = Linger(10, until=5.0)
    assert [linger.is_over(now) for now in (4.9, 5.0, 5.1)] == [False, False, True]


def test_so_many_bytes_are_dropped_and_no_more() -> None:
    linger = Linger(10, until=5.0)
    linger.drop(10)
    assert not linger.is_exceeded
    linger.drop(1)
    assert linger.is_exceeded


def test_of_a_declared_body_all_is_dropped_that_comes_in_time() -> None:
    linger = Linger(ALL_THAT_COMES, until=5.0)
    linger.drop(2**40)
    assert not linger.is_exceeded
