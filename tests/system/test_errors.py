"""Every row of the error table that can occur, by a real request that provokes it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT, assert_problem
from tests.support.service import Service, paused, serving, start, wait_until

KEY = "correct horse"
LONG = TEXT * 2_000


@pytest.fixture(scope="module")
def strict(home: Path) -> Iterator[Service]:
    """A service with keys and small limits."""
    keys = home / "keys"
    keys.write_text(f"# client digest\nalice {hashlib.sha256(KEY.encode()).hexdigest()}\n")
    limits = {"MAX_DOCUMENT_BYTES": 25_000, "MAX_DOCUMENT_TOKENS": 2_500, "MAX_DOCUMENT_PAGES": 2}
    with serving(home, MODELS="tiny", API_KEYS_FILE=keys, **limits) as service:
        yield service


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", ("JSON",)),
        (b"[]", ("object",)),
        (b"{}", ("text", "documents")),
        (b'{"text": "a", "documents": []}', ("either",)),
        (b'{"text": 5}', ("string",)),
        (b'{"documents": []}', ("at least one",)),
        (b'{"documents": [{"txt": "a"}]}', ("text",)),
        (b'{"text": "\\ud800"}', ()),
        (b"\xff", ()),
    ],
)
def test_400_for_a_body_that_is_not_what_its_type_says(service: Service, body: bytes, words: tuple[str, ...]) -> None:
    with service.client() as client:
        answer = client.post("/extract", content=body, headers={"Content-Type": "application/json"})
    assert_problem(answer, 400, "malformed_request", *words)


def test_400_for_a_form_without_files_or_with_a_torn_body(service: Service) -> None:
    with service.client() as client:
        header = {"Content-Type": "multipart/form-data; boundary=x"}
        assert_problem(client.post("/extract", content=b"--x--\r\n", headers=header), 400, "malformed_request", "file")
        assert_problem(client.post("/extract", content=b"nonsense", headers=header), 400, "malformed_request")
        bare = {"Content-Type": "multipart/form-data"}
        assert_problem(client.post("/extract", content=b"", headers=bare), 400, "malformed_request")


def test_401_without_a_key_and_403_with_a_wrong_one(strict: Service) -> None:
    with strict.client() as client:
        without = client.post("/extract", json={"text": TEXT})
        assert_problem(without, 401, "unauthenticated", "Authorization")
        assert without.headers["www-authenticate"] == "Bearer"
        wrong = client.post("/extract", json={"text": TEXT}, headers={"Authorization": "Bearer guess"})
        assert_problem(wrong, 403, "forbidden")
        for header in ({"Authorization": f"Bearer {KEY}"}, {"X-API-Key": KEY}):
            assert client.post("/extract", json={"text": TEXT}, headers=header).status_code == 200
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("wanted", ["nobody", "tiny@candidate", "tiny@sha256:00"])
def test_404_lists_the_models_that_are_there(service: Service, wanted: str) -> None:
    with service.client() as client:
        assert_problem(
            client.post("/extract", json={"text": TEXT, "model": wanted}), 404, "unknown_model", "tiny", "other"
        )


def test_413_says_which_limit(strict: Service) -> None:
    key = {"X-API-Key": KEY}
    with strict.client() as client:
        assert_problem(
            client.post("/extract", json={"text": "a" * 10_001}, headers=key), 413, "document_too_large", "characters"
        )
        file = {"file": ("a.txt", b"a" * 25_001)}
        assert_problem(client.post("/extract", files=file, headers=key), 413, "document_too_large", "bytes")
        body = client.post("/extract", content=b"a" * 100_001, headers={**key, "Content-Type": "text/plain"})
        assert_problem(body, 413, "document_too_large", "100000")
        many = {"documents": [{"text": "a"}] * 1_001}
        assert_problem(client.post("/extract", json=many, headers=key), 413, "document_too_large", "1000")


def test_415_lists_the_formats(service: Service) -> None:
    with service.client() as client:
        noise = bytes(range(256)) * 8
        raw = client.post("/extract", content=noise, headers={"Content-Type": "image/png"})
        assert_problem(raw, 415, "unsupported_format", "PDF", "DOCX")
        assert_problem(client.post("/extract", files={"file": ("a.bin", noise)}), 415, "unsupported_format", "PDF")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"aggregation": "best"}, "aggregation"),
        ({"min_score": 2}, "min_score"),
        ({"offsets": "bytes"}, "offsets"),
        ({"deadline_ms": 0}, "deadline_ms"),
        ({"priority": "high"}, "priority"),
        ({"lables": ["PER"]}, "lables"),
    ],
)
def test_422_for_a_bad_option_names_it(service: Service, options: dict[str, object], word: str) -> None:
    with service.client() as client:
        assert_problem(client.post("/extract", json={"text": TEXT, **options}), 422, "invalid_options", word)
        query = "&".join(f"{name}={value}" for name, value in options.items())
        raw = client.post(f"/extract?{query}", content=TEXT.encode(), headers={"Content-Type": "text/plain"})
        assert_problem(raw, 422, "invalid_options", word)


def test_422_for_a_file_without_text(service: Service) -> None:
    with service.client() as client:
        for name, data, word in (
            ("a.pdf", b"", "empty"),
            ("a.pdf", b"%PDF-1.7\ngarbage", ""),
            ("b.pdf", simple_pdf(), ""),
        ):
            assert_problem(client.post("/extract", files={"file": (name, data)}), 422, "unreadable_document", word)


def test_429_with_the_time_to_wait_when_the_queue_is_full(home: Path) -> None:
    with (
        serving(home, MODELS="tiny", QUEUE_LIMIT_TOKENS=20_000, PACE_TOKENS_PER_SECOND=20_000) as service,
        service.client() as client,
        ThreadPoolExecutor(6) as clients,
    ):
        answers = list(clients.map(lambda _: client.post("/extract", json={"text": LONG}), range(6)))
        refused = [answer for answer in answers if answer.status_code != 200]
        assert refused
        assert any(answer.status_code == 200 for answer in answers)
        for answer in refused:
            assert_problem(answer, 429, "queue_full", "20000")
            assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/readyz").status_code == 200


def test_503_not_ready_before_the_models_are_loaded(home: Path) -> None:
    with start(home, MODELS="tiny") as service:
        wait_until(lambda: service.find("engine") is not None)
        with paused(service.child("engine")):
            wait_until(lambda: service.phase() != "unreachable")
            ready = service.get("/readyz")
            assert ready.status_code == 503
            assert set(ready.json()) == {"phase", "percent", "detail"}
            assert service.get("/livez").status_code == 200
            assert_problem(service.extract(text=TEXT), 503, "not_ready")


def test_504_at_once_when_a_deadline_cannot_be_met(service: Service) -> None:
    with service.client() as client:
        client.post("/extract", json={"text": LONG})  # So that the speed is known.
        answer = client.post("/extract", json={"text": LONG, "deadline_ms": 20})
        assert_problem(answer, 504, "deadline_exceeded")
        assert client.post("/extract", json={"text": TEXT}).status_code == 200


def test_an_unknown_route_and_method_are_plain_404_and_405(service: Service) -> None:
    with service.client() as client:
        assert client.get("/nothing").status_code == 404
        assert client.get("/extract").status_code == 405
