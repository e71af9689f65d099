"""Incoming messages: what a head says, how large a message is while it arrives, and which of its times has run out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.core.connections.connection_table import ConnectionLimits
from service.core.connections.incoming_message import (
    FRAMING_BYTES,
    HEALTH_ONLY_SECONDS,
    JUDGED_SECONDS,
    LEAST_BYTES_PER_SECOND,
    IncomingMessage,
    MessageTimeout,
    Pace,
    named_deadline_ms,
    read_head,
)
from service.core.errors import MalformedRequest

LIMITS = ConnectionLimits(head_bytes=100, head_seconds=20.0, body_seconds=60.0, idle_seconds=75.0)
Story = Callable[[IncomingMessage], None]


def message(story: Story | None = None) -> IncomingMessage:
    """The first message of a connection that was opened at 0, after its story."""
    found = IncomingMessage(LIMITS)
    found.wait(0.0)
    if story is not None:
        story(found)
    return found


def head_begins(found: IncomingMessage) -> None:
    found.receive(10, 5.0)


def head_goes_on(found: IncomingMessage) -> None:
    found.receive(10, 5.0)
    found.receive(10, 20.0)


def body_begins(found: IncomingMessage) -> None:
    found.receive(50, 5.0)
    found.end_head()
    found.go_on(10.0)


def is_whole(found: IncomingMessage) -> None:
    found.receive(50, 5.0)
    found.end_head()
    found.end_body(10.0)


def next_head_begins(found: IncomingMessage) -> None:
    is_whole(found)
    found.receive(1, 30.0)


def answer_is_complete(found: IncomingMessage) -> None:
    is_whole(found)
    found.wait(40.0)


@pytest.mark.parametrize(
    ("story", "is_health_only", "last", "expected"),
    [
        (None, False, 20.0, MessageTimeout.IDLE),
        (None, True, HEALTH_ONLY_SECONDS, MessageTimeout.SILENT),
        (head_begins, False, 25.0, MessageTimeout.SLOW),
        (head_begins, True, 5.0 + HEALTH_ONLY_SECONDS, MessageTimeout.SLOW),
        (head_goes_on, False, 25.0, MessageTimeout.SLOW),
        (is_whole, False, 85.0, MessageTimeout.IDLE),
        (is_whole, True, 10.0 + HEALTH_ONLY_SECONDS, MessageTimeout.SILENT),
        (next_head_begins, False, 50.0, MessageTimeout.SLOW),
        (answer_is_complete, False, 115.0, MessageTimeout.IDLE),
    ],
)
def test_a_message_that_is_awaited_or_whose_head_comes_has_a_time(
    story: Story | None, is_health_only: bool, last: float, expected: MessageTimeout
) -> None:
    found = message(story)
    assert found.overdue(last, is_health_only=is_health_only, is_answering=False, awaits_us=False) is None
    assert found.overdue(last + 0.1, is_health_only=is_health_only, is_answering=True, awaits_us=False) is None
    assert found.overdue(last + 0.1, is_health_only=is_health_only, is_answering=False, awaits_us=False) is expected


def overdue(found: IncomingMessage, now: float, *, awaits_us: bool = False) -> MessageTimeout | None:
    return found.overdue(now, is_health_only=False, is_answering=True, awaits_us=awaits_us)


def test_a_body_is_overdue_when_a_window_brings_too_little_of_it() -> None:
    found = message(body_begins)
    found.go_on(20.0)
    found.add_body(60 * LEAST_BYTES_PER_SECOND)
    assert overdue(found, 70.0) is None
    found.add_body(60 * LEAST_BYTES_PER_SECOND - 1)
    assert overdue(found, 129.9) is None
    assert overdue(found, 130.0) is MessageTimeout.SLOW


def test_a_body_that_waits_for_us_has_all_its_time_afterwards() -> None:
    found = message(body_begins)
    assert overdue(found, 69.0, awaits_us=True) is None
    assert overdue(found, 128.9) is None
    assert overdue(found, 129.0) is MessageTimeout.SLOW


def test_a_body_that_came_with_its_head_has_no_pace() -> None:
    found = message()
    found.receive(50, 5.0)
    found.end_head()
    found.add_body(10)
    assert found.body_bytes == 10
    assert overdue(found, 1e6) is None
    assert not found.is_slow_so_far(1e6)


def test_a_body_is_slow_before_its_window_ends_until_it_is_whole() -> None:
    found = message(body_begins)
    assert [found.is_slow_so_far(10.0 + seconds) for seconds in (0.0, JUDGED_SECONDS)] == [False, True]
    found.end_body(13.0)
    assert not found.is_slow_so_far(20.0)


def test_while_a_head_arrives_there_is_no_body_whose_pace_could_be_watched() -> None:
    found = message(head_begins)
    found.go_on(6.0)
    found.end_head()
    assert not found.is_slow_so_far(1e6)


def test_what_is_too_large_is_seen_before_it_is_parsed() -> None:
    found, seen = message(), []
    for count in (100, 1):
        found.receive(count, 1.0)
        seen.append(found.is_too_large)
    found.end_head()
    seen.append(found.is_too_large)
    assert seen == [False, True, False], "what came with the end of a head was not the head's"


@pytest.mark.parametrize(("body_bytes", "around"), [(0, 100), (10, 100 + 10 * FRAMING_BYTES)])
def test_around_a_body_a_little_may_come_for_each_of_its_bytes(body_bytes: int, around: int) -> None:
    found = message(body_begins)
    found.add_body(body_bytes)
    found.receive(around, 11.0)
    assert not found.is_too_large
    found.receive(1, 11.0)
    assert found.is_too_large


def test_with_the_next_message_all_begins_anew() -> None:
    found = message()
    assert (found.is_awaited, found.is_first) == (True, True)
    body_begins(found)
    found.trailers = 3
    found.receive(50, 11.0)
    assert (found.in_head, found.is_awaited) == (False, False)
    found.end_body(12.0)
    assert (found.in_head, found.is_awaited, found.is_first) == (True, True, False)
    found.receive(10, 13.0)
    assert not found.is_awaited
    found.end_head()
    assert (found.trailers, found.body_bytes) == (0, 0)


HOST = (b"host", b"a")


def test_a_head_says_what_comes_and_stands_for_a_client_by_a_number() -> None:
    head = read_head("1.1", [HOST, (b"content-length", b"12"), (b"expect", b"100-Continue"), (b"x-api-key", b"k")])
    assert (head.length, head.expects_continue) == (12, True)
    assert head.client == read_head("1.1", [HOST, (b"x-api-key", b"k"), (b"accept", b"*/*")]).client
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
        ("1.1", [HOST, (b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"chunked")]),
        ("1.1", [HOST, (b"content-length", b"0" * 20 + b"1")]),
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


def test_within_a_window_it_is_judged_once_some_of_it_has_passed() -> None:
    pace = Pace(60.0, 0.0)
    assert not pace.is_slow_so_far(JUDGED_SECONDS - 0.1)
    assert pace.is_slow_so_far(JUDGED_SECONDS)
    pace.moved(int(JUDGED_SECONDS * LEAST_BYTES_PER_SECOND))
    assert not pace.is_slow_so_far(JUDGED_SECONDS)
    assert pace.is_slow_so_far(2 * JUDGED_SECONDS)
