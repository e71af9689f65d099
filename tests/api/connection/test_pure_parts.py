"""The pure parts of a connection: pace, byte budget, heads, limits, prepared answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.connection.admission import Admitted
from service.api.connection.arrival import ArrivalClock
from service.api.connection.byte_budget import ByteBudget
from service.api.connection.limits import ConnectionLimits, connection_limits, connections_within
from service.api.connection.pace import LEAST_BYTES_PER_SECOND, Pace
from service.api.connection.prepared import PreparedProblem, PreparedProblems
from service.api.connection.request_head import named_deadline_ms, read_head
from service.api.connection.start_queue import StartQueue
from service.core.errors import MalformedRequest, QueueFull
from service.settings import Settings

HOST = (b"host", b"a")


def test_a_pace_is_judged_by_whole_windows() -> None:
    pace = Pace(10.0, 0.0)
    assert not pace.is_too_slow(9.9)
    pace.moved(10 * LEAST_BYTES_PER_SECOND)
    assert not pace.is_too_slow(10.0)
    pace.moved(10 * LEAST_BYTES_PER_SECOND - 1)
    assert not pace.is_too_slow(19.9)
    assert pace.is_too_slow(20.0)
    pace.restart(100.0)
    assert not pace.is_too_slow(109.0)


def test_the_largest_unfinished_transfer_is_given_up_and_finished_ones_are_not() -> None:
    budget: ByteBudget[str] = ByteBudget(100)
    assert budget.hold("large", 60) is None
    assert budget.hold("small", 10) is None
    assert budget.hold("small", 31) == "large"
    budget.finish("large")
    assert budget.hold("small", 0) == "small"
    budget.release("large")
    assert budget.hold("small", 0) is None
    assert budget.held_bytes == 41
    assert budget.hold("small", 500) is None, "alone it takes nobody's room"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50), st.sampled_from("hfr"))))
def test_a_budget_never_holds_more_than_its_limit_once_the_victim_is_released(
    steps: list[tuple[int, int, str]],
) -> None:
    budget: ByteBudget[int] = ByteBudget(100)
    finished: set[int] = set()
    for holder, count, do in steps:
        if do == "h" and holder not in finished:
            victim = budget.hold(holder, count)
            if victim is not None:
                budget.release(victim)
        elif do == "f":
            budget.finish(holder)
            finished.add(holder)
        elif do == "r":
            budget.release(holder)
            finished.discard(holder)
        assert budget.held_bytes >= 0
        assert budget.held_bytes <= 100 or len(budget._held) == 1


def admitted(at: float, deadline: float = 1.0) -> Admitted:
    return Admitted((0, 0), deadline, at)


def test_a_few_requests_begin_in_each_turn_in_order_of_arrival() -> None:
    starts: StartQueue[int] = StartQueue()
    assert [starts.may_begin(0.0) for _ in range(5)] == [True, True, True, True, False]
    for number in range(6):
        starts.wait(number, admitted(0.0))
    assert starts.next_turn(0.1) == [0, 1, 2, 3]
    assert not starts.may_begin(0.2), "those that wait come first"
    starts.wait(99, admitted(0.2))
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


def test_a_head_says_what_comes_and_stands_for_a_client_by_a_number() -> None:
    head = read_head("1.1", [HOST, (b"content-length", b"12"), (b"expect", b"100-Continue"), (b"x-api-key", b"k")])
    assert (head.length, head.expects_continue) == (12, True)
    assert head.client == read_head("1.1", [HOST, (b"x-api-key", b"k")]).client
    assert head.client != read_head("1.1", [HOST, (b"x-api-key", b"l")]).client
    assert read_head("1.1", [HOST, (b"transfer-encoding", b"Chunked")]).length is None
    assert read_head("1.0", []).length == 0


@pytest.mark.parametrize(
    ("version", "headers"),
    [
        ("1.1", []),
        ("1.1", [HOST, HOST]),
        ("1.0", [HOST, HOST]),
        ("1.0", [(b"transfer-encoding", b"chunked")]),
        ("1.1", [HOST, (b"transfer-encoding", b"identity")]),
    ],
)
def test_heads_that_a_proxy_might_read_otherwise_are_refused(version: str, headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(MalformedRequest):
        read_head(version, headers)


@pytest.mark.parametrize(
    ("target", "received", "expected"),
    [
        (b"/extract?deadline_ms=250", b"", 250),
        (b"/extract?a=1&deadline_ms=250&b=2", b"", 250),
        (b"/extract?xdeadline_ms=250", b"", None),
        (b"/extract", b'{"text": "a", "deadline_ms": 300}', 300),
        (b"/extract", b'{"deadline_ms":300,"text": "a"}', 300),
        (b"/extract", b'--x\r\nContent-Disposition: form-data; name="deadline_ms"\r\n\r\n400\r\n--x', 400),
        (b"/extract", b'{"text": "\\"deadline_ms\\": 300"}', None),
        (b"/extract", b'{"deadline_ms": 0}', None),
        (b"/extract", b'{"deadline_ms": true}', None),
        (b"/extract", b"", None),
    ],
)
def test_a_deadline_is_seen_before_the_body_is_parsed(target: bytes, received: bytes, expected: int | None) -> None:
    assert named_deadline_ms(target, received) == expected


def test_connections_fit_the_limit_of_open_files() -> None:
    assert connections_within(4_096, 20_000) == 4_096
    assert connections_within(4_096, 1_024) + connections_within(4_096, 1_024) // 4 + 96 <= 1_024
    assert connections_within(4_096, 100) == 16
    limits = connection_limits(Settings(max_connections=100, deadline_ms=5_000), 20_000)
    roomy = connection_limits(Settings(max_request_bytes=2**31), 20_000)
    assert roomy.held_bytes == 2**31, "a single body always fits"
    assert (limits.connections, limits.brief_connections, limits.deadline_seconds) == (100, 25, 5.0)


def test_a_prepared_answer_is_a_whole_response() -> None:
    prepared = PreparedProblem(QueueFull("Come back.", retry_after_seconds=2.0))
    for close in (False, True):
        head, _, body = prepared.response([(b"date", b"now")], close=close).partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        assert lines[0] == b"HTTP/1.1 429 Too Many Requests"
        assert {b"date: now", b"retry-after: 2", b"x-content-type-options: nosniff"} <= set(lines)
        assert (b"connection: close" in lines) == close
        assert b"content-length: %d" % len(body) in lines
        assert json.loads(body)["code"] == "queue_full"


def test_every_refusal_of_overload_has_an_answer() -> None:
    problems = PreparedProblems(ConnectionLimits())
    assert {code: each.code for code, each in problems.overloaded.items()} == {
        "queue_full": "queue_full",
        "deadline_exceeded": "deadline_exceeded",
    }


def test_no_arrival_is_known_of_what_is_no_socket() -> None:
    assert ArrivalClock().waited_seconds(-1) == 0.0
