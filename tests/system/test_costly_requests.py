"""Small requests that would cost much: each is refused for its cost; the worker stays small and answers others.

Each of them stopped its worker for ten to a hundred seconds, or took gigabytes, or both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from service.api.json_body import JSON_BYTES
from tests.support.document_files import paragraph, word_body
from tests.support.extraction import TEXT, assert_problem
from tests.support.processes import children_of, command_of, peak_bytes
from tests.support.service import Service, serving

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
JSON = "application/json"
MOST_BYTES = 500_000_000
"""Most bytes of a worker; it has some 100 MB when it starts, and had up to eight gigabytes."""
MOST_SHARE = 0.5
"""Share of a costly request's time that a health check may wait beside it; it was all of it."""
LEAST_SECONDS = 6.0
"""What it may wait in any case, on a machine with much else to do; it was 10 to 100 s."""


@pytest.fixture(scope="module")
def alone(home: Path) -> Iterator[Service]:
    """A service with one worker, which has nobody else to answer for it."""
    with serving(home, MODELS="tiny", DTYPE="float32", WORKERS=1) as service:
        yield service


def workers(service: Service) -> list[int]:
    """The API workers, children of their master."""
    return [pid for pid in children_of(service.child("api")) if "service.api\0" in command_of(pid)]


@dataclass(slots=True)
class Longest:
    """The longest that anybody waited for /livez, in seconds."""

    seconds: float = 0.0


@contextmanager
def asking(service: Service) -> Iterator[Longest]:
    """Meanwhile /livez is asked without a pause."""
    longest, over = Longest(), threading.Event()

    def ask() -> None:
        with service.client() as client:
            while not over.is_set():
                begun = time.monotonic()
                assert client.get("/livez").status_code == 200
                longest.seconds = max(longest.seconds, time.monotonic() - begun)

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        yield longest
    finally:
        over.set()
        asker.join()


def lists(times: int) -> bytes:
    return b'{"text": "a", "labels": [' + b",".join([b"[]"] * times) + b"]}"


COSTLY: dict[str, tuple[Callable[[], bytes], str, int, str]] = {
    "a docx of dashes": (lambda: word_body(paragraph("-" * 19_000_000)), DOCX, 413, "document_too_large"),
    "a docx of blanks": (lambda: word_body(paragraph("- " * 9_500_000)), DOCX, 413, "document_too_large"),
    "lists for labels": (lambda: lists(1_000_000), JSON, 422, "invalid_options"),
    "a million documents": (
        lambda: b'{"documents": [' + b",".join([b'{"text":""}'] * 1_000_000) + b"]}",
        JSON,
        413,
        "document_too_large",
    ),
    "escapes of a text that no document may have": (
        lambda: b'{"text": "' + b"\\u3042" * 21_000_000 + b'"}',
        JSON,
        413,
        "document_too_large",
    ),
    "14 MB of labels": (lambda: lists(5_000_000), JSON, 422, "invalid_options"),
    "a model of a megabyte": (lambda: b'{"text": "a", "model": "' + b"m" * 10**6 + b'"}', JSON, 422, "invalid_options"),
    "no utf-8": (lambda: b'{"text": "\xff"}', JSON, 400, "malformed_request"),
    "true": (lambda: b'{"text": "a", "deadline_ms": true}', JSON, 422, "invalid_options"),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_a_costly_request_is_refused_in_few_words(alone: Service, kind: str) -> None:
    body, media_type, status, code = COSTLY[kind]
    with alone.client() as client:
        answer = client.post("/extract", content=body(), headers={"Content-Type": media_type})
    assert_problem(answer, status, code)
    assert len(answer.content) < 1_000
    assert all(peak_bytes(pid) < MOST_BYTES for pid in workers(alone))


@pytest.mark.parametrize("unit", ["- ", "\n--", "の"])
def test_a_long_text_leaves_the_worker_to_others_until_its_deadline(alone: Service, unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    with asking(alone) as longest:
        begun = time.monotonic()
        answer = alone.extract(text=text, deadline_ms=2_000, timeout=120.0)
        seconds = time.monotonic() - begun
    assert answer.status_code in (200, 422, 504), answer.text
    assert longest.seconds < max(MOST_SHARE * seconds, LEAST_SECONDS)
    assert workers(alone)
    assert all(peak_bytes(pid) < MOST_BYTES for pid in workers(alone))
    assert alone.extract(text=TEXT).status_code == 200


def test_a_batch_is_answered_at_its_deadline(alone: Service) -> None:
    texts = [{"text": TEXT * 1_500}] * 100
    begun = time.monotonic()
    answer = alone.extract(documents=texts, deadline_ms=1_500, timeout=120.0)
    assert time.monotonic() - begun < 15.0
    assert answer.status_code in (200, 422, 504), answer.text
    if answer.status_code == 200:
        errors = {each["error"]["code"] for each in answer.json()["documents"] if each["error"]}
        assert errors <= {"deadline_exceeded", "queue_full", "too_long_for_deadline"}


@pytest.mark.parametrize("charset", ["undefined", "punycode", "raw_unicode_escape", "utf-7"])
def test_a_form_in_a_strange_charset_is_malformed(alone: Service, charset: str) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\\ud800+2AA-.txt"\r\n\r\nanna\r\n--x--\r\n'
    with alone.client() as client:
        header = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
        assert_problem(client.post("/extract", content=part, headers=header), 400, "malformed_request", charset)
    assert "Traceback" not in alone.log.read_text()


def test_a_text_beside_options_is_answered_as_before(alone: Service) -> None:
    options: dict[str, Any] = {"labels": ["PER"], "min_score": 0, "deadline_ms": 60_000, "include_text": True}
    answer = alone.extract(text=TEXT, **options)
    assert answer.status_code == 200
    assert answer.json()["documents"][0]["text"] == TEXT


def test_a_text_that_is_too_long_is_refused_alone(alone: Service) -> None:
    texts = [("file", ("a.txt", TEXT.encode(), "text/plain")), ("file", ("b.txt", b"a" * 20_000_001, "text/plain"))]
    with alone.client() as client:
        answer = client.post("/extract", files=texts, timeout=120.0)
    assert answer.status_code == 200
    first, second = answer.json()["documents"]
    assert (first["error"], len(first["entities"]) > 0) == (None, True)
    assert second["error"]["code"] == "document_too_large"
    assert "20,000,001 characters" in second["error"]["detail"]


def test_a_worker_that_decodes_the_largest_bodies_stays_small(alone: Service) -> None:
    body = lists((JSON_BYTES - 100) // 3)
    with asking(alone) as longest:
        begun = time.monotonic()
        for _ in range(3):
            with alone.client() as client:
                answer = client.post("/extract", content=body, headers={"Content-Type": JSON}, timeout=120.0)
            assert_problem(answer, 422, "invalid_options")
        seconds = time.monotonic() - begun
    assert longest.seconds < max(MOST_SHARE * seconds, LEAST_SECONDS)
    assert all(peak_bytes(pid) < MOST_BYTES for pid in workers(alone))
