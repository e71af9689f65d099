from __future__ import annotations

import pytest

from loadtest.client.target import Target, read_target, request_bytes
from loadtest.errors import BadInput
from loadtest.workload.jobs import Job


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://127.0.0.1:8080", Target("127.0.0.1", 8080)),
        ("localhost:9000/", Target("localhost", 9000)),
        ("https://example.org/api/", Target("example.org", 443, "/api", tls=True)),
    ],
)
def test_urls(url: str, target: Target) -> None:
    assert read_target(url) == target


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http:///x"])
def test_no_url(url: str) -> None:
    with pytest.raises(BadInput):
        read_target(url)


def test_a_request_is_whole() -> None:
    job = Job("text", b'{"text": "a"}', "application/json", (("model", "a@b c"),), (("Authorization", "Bearer k"),))
    assert request_bytes(Target("h", 80, "/api"), job) == (
        b"POST /api/extract?model=a%40b%20c HTTP/1.1\r\nHost: h:80\r\nContent-Type: application/json\r\n"
        b'Content-Length: 13\r\nAuthorization: Bearer k\r\n\r\n{"text": "a"}'
    )
