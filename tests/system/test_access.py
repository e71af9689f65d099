"""Access to a running service of two workers: keys, their changes, guesses, limits of rate and of size."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.adapter_clients import key_line
from tests.support.extraction import TEXT, assert_problem
from tests.support.log_lines import log_lines
from tests.support.parsers import late_parsers, link_weights
from tests.support.processes import children_of
from tests.support.service import Service, serving, wait_until

ANSWERED = "answered"
LATE_SECONDS = 15.0
"""What a worker's parsers may take, on a machine with much else to do, without a request refused for it."""
REFUSED = {"forbidden", "rate_limited"}
GOOD = key_line("alice", "a") + key_line("carol", "c", "documents_per_second=1")


@pytest.fixture(scope="module")
def keys(home: Path) -> Path:
    file = home / "changing-keys"
    file.write_text(GOOD)
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OCR's weights."""
    folder = tmp_path_factory.mktemp("weights")
    link_weights(folder)
    return folder


@pytest.fixture(scope="module")
def guarded(home: Path, keys: Path, weights: Path) -> Iterator[Service]:
    """A service that needs keys and takes small documents alone."""
    limits = {"MAX_DOCUMENT_BYTES": 25_000, "MAX_DOCUMENT_TOKENS": 2_500}
    with serving(home, MODELS="tiny", API_KEYS_FILE=keys, WORKERS=2, OCR_FOLDER=weights, **limits) as service:
        yield service


def ask(service: Service, key: str) -> httpx.Response:
    """One text, over a connection of its own, so that any worker may answer."""
    with service.client() as client:
        return client.post("/extract", json={"text": TEXT}, headers={"X-API-Key": key})


def outcomes(service: Service, key: str) -> set[str]:
    """What becomes of requests with this key: `ANSWERED`, or a problem's code."""
    answers = [ask(service, key) for _ in range(16)]
    return {ANSWERED if answer.status_code == 200 else answer.json()["code"] for answer in answers}


def workers(service: Service) -> set[int]:
    master = service.child("api")
    return set(children_of(master))


def test_401_without_a_key_and_with_a_wrong_one(guarded: Service) -> None:
    with guarded.client() as client:
        without = client.post("/extract", json={"text": TEXT})
        assert_problem(without, 401, "unauthenticated", "Authorization")
        assert without.headers["www-authenticate"] == "Bearer"
        wrong = client.post("/extract", json={"text": TEXT}, headers={"Authorization": "Bearer guess"})
        assert_problem(wrong, 401, "forbidden")
        for header in ({"Authorization": "Bearer a"}, {"X-API-Key": "a"}):
            assert client.post("/extract", json={"text": TEXT}, headers=header).status_code == 200
        assert client.get("/readyz").status_code == 200


def test_413_says_which_limit(guarded: Service) -> None:
    requests: tuple[tuple[dict[str, Any], str], ...] = (
        ({"json": {"text": "a" * 10_001}}, "characters"),
        ({"files": {"file": ("a.txt", b"a" * 25_001)}}, "bytes"),
        ({"content": b"a" * 100_001}, "100,000"),
        ({"json": {"documents": [{"text": "a"}] * 1_001}}, "1000"),
    )
    with guarded.client() as client:
        for request, word in requests:
            type_ = {"Content-Type": "text/plain"} if "content" in request else {}
            answer = client.post("/extract", **request, headers={"X-API-Key": "a", **type_})
            assert_problem(answer, 413, "document_too_large", word)


def test_hashes_of_redacted_values_need_a_key_of_the_service(guarded: Service) -> None:
    with guarded.client() as client:
        answer = client.post("/redact", json={"text": TEXT, "mode": "hash"}, headers={"X-API-Key": "a"})
    assert_problem(answer, 422, "invalid_options", "GLEANER_REDACT_KEY")


def test_an_edit_holds_in_every_worker_without_a_restart(guarded: Service, keys: Path) -> None:
    assert outcomes(guarded, "a") == {ANSWERED}
    keys.write_text(key_line("bob", "b") + GOOD.replace("alice", "# alice"))
    wait_until(lambda: outcomes(guarded, "a") <= REFUSED)
    wait_until(lambda: outcomes(guarded, "b") == {ANSWERED})  # One worker may have given all answers so far.
    keys.write_text(GOOD)
    wait_until(lambda: outcomes(guarded, "a") == {ANSWERED})


def test_a_stream_of_the_console_ends_when_its_key_is_revoked(guarded: Service, keys: Path) -> None:
    with guarded.client() as client, client.stream("GET", "/console/live", headers={"X-API-Key": "c"}) as stream:
        events = stream.iter_lines()
        assert next(events).startswith("retry")
        keys.write_text(key_line("alice", "a"))
        begun = time.monotonic()
        for _ in events:
            assert time.monotonic() - begun < 150
    keys.write_text(GOOD)
    wait_until(lambda: outcomes(guarded, "a") == {ANSWERED})


def test_a_bad_keys_file_ends_nothing_and_a_worker_born_beside_it_serves(
    guarded: Service, keys: Path, weights: Path
) -> None:
    """Its parsers start late; while it cannot answer it accepts nothing."""
    keys.write_text("alice nonsense\n")
    wait_until(lambda: guarded.metric("gleaner_keys_rejected") == 1)
    before, parsers_started = workers(guarded), guarded.events().count("parser_sandbox")
    victim = max(before)
    with late_parsers(weights):
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: victim not in workers(guarded) and len(workers(guarded)) == len(before))
        begun = time.monotonic()
        while time.monotonic() - begun < LATE_SECONDS:
            assert outcomes(guarded, "a") == {ANSWERED}
    while guarded.events().count("parser_sandbox") == parsers_started:
        assert outcomes(guarded, "a") == {ANSWERED}
    assert outcomes(guarded, "a") == {ANSWERED}
    assert guarded.process.poll() is None
    assert "keys_rejected" in guarded.events()
    keys.write_text(GOOD)
    wait_until(lambda: guarded.metric("gleaner_keys_rejected") == 0)


def test_guesses_are_slowed_with_a_time_to_wait_and_good_keys_are_not(guarded: Service) -> None:
    """A forwarded address is anybody's claim unless its sender is a trusted proxy."""
    codes: Counter[int] = Counter()
    with guarded.client() as client:
        for number in range(150):
            headers = {"X-API-Key": f"guess {number}", "X-Forwarded-For": f"192.0.2.{number}"}
            answer = client.post("/extract", json={"text": TEXT}, headers=headers)
            codes[answer.status_code] += 1
            if answer.status_code == 429:
                assert_problem(answer, 429, "rate_limited", "unknown keys")
                assert int(answer.headers["retry-after"]) >= 1
    assert codes[429] > codes[401] > 0
    assert outcomes(guarded, "a") == {ANSWERED}
    assert guarded.metric('gleaner_failed_keys_total{code="rate_limited"}') >= codes[429]


def test_a_client_over_its_documents_a_second_is_refused_by_every_worker(guarded: Service) -> None:
    with guarded.client() as client:
        batch = {"documents": [{"text": TEXT}] * 60}
        assert client.post("/extract", json=batch, headers={"X-API-Key": "c"}).status_code == 200
    answers = [ask(guarded, "c") for _ in range(8)]
    assert {answer.status_code for answer in answers} == {429}
    assert_problem(answers[0], 429, "rate_limited", "documents a second")
    assert int(answers[0].headers["retry-after"]) >= 1
    assert outcomes(guarded, "a") == {ANSWERED}


def test_the_log_says_whose_request_it_was_and_why_it_was_refused(guarded: Service) -> None:
    wanted = {
        ("alice", None, None),
        ("alice", "document_too_large", None),
        ("carol", "rate_limited", None),
        (None, "forbidden", "127.0.0.1"),
    }
    with guarded.client() as client:
        long = {"documents": [{"text": TEXT}, {"text": TEXT * 300}]}
        assert client.post("/extract", json=long, headers={"X-API-Key": "a"}).status_code == 200
    for key in ("a", "stranger"):  # A stranger may be known as one from the tests before.
        ask(guarded, key)

    def said() -> bool:
        ask(guarded, "c")
        lines = [each for each in log_lines(guarded.log) if each["logger"] == "gleaner.access"]
        return wanted <= {(each.get("client"), each.get("code"), each.get("address")) for each in lines}

    wait_until(said)
