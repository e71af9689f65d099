"""Heads as values: what comes, from whom, by when, and which of them a proxy might read otherwise."""

from __future__ import annotations

import pytest

from service.core.connections.request_head import named_deadline_ms, read_head
from service.core.errors import MalformedRequest

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
