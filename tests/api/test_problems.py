"""Errors over HTTP: one status for each code, the fields of RFC 9457, and how long to wait."""

from __future__ import annotations

import json

import pytest

from service.api.problems import MEDIA_TYPE, MOST_DETAIL_CHARACTERS, STATUS, problem, response
from service.core.errors import BY_CODE, Overloaded, QueueFull, RequestError, Unauthenticated


def test_every_code_has_a_status_and_every_status_a_code() -> None:
    assert set(STATUS) == set(BY_CODE)


def test_the_sender_s_faults_are_4xx_and_ours_5xx() -> None:
    for code, error in BY_CODE.items():
        if issubclass(error, RequestError):
            assert 400 <= STATUS[code] < 500, code
        elif issubclass(error, Overloaded):
            assert STATUS[code] in (429, 503, 504), code
        else:
            assert STATUS[code] >= 500, code


@pytest.mark.parametrize("code", sorted(BY_CODE))
def test_a_problem_has_the_fields_of_the_rfc_and_its_code(code: str) -> None:
    error = BY_CODE[code]("What happened.")
    answer = response(error)
    body = json.loads(bytes(answer.body))
    assert body == problem(error)
    assert set(body) == {"type", "title", "status", "detail", "code"}
    assert (body["status"], body["detail"], body["code"]) == (STATUS[code], "What happened.", code)
    assert body["type"] == f"urn:gleaner:error:{code}"
    assert (answer.status_code, answer.headers["content-type"]) == (STATUS[code], MEDIA_TYPE)


@pytest.mark.parametrize(("seconds", "header"), [(None, "1"), (0.0, "1"), (0.2, "1"), (2.0, "2"), (2.01, "3")])
def test_retry_after_is_whole_seconds_rounded_up_and_never_zero(seconds: float | None, header: str) -> None:
    assert response(QueueFull("full", retry_after_seconds=seconds)).headers["retry-after"] == header


@pytest.mark.parametrize("code", sorted(BY_CODE))
def test_retry_after_comes_where_waiting_helps(code: str) -> None:
    """Refusals for want of capacity or readiness have it, those for a deadline too."""
    assert ("retry-after" in response(BY_CODE[code]("…")).headers) == (STATUS[code] in (429, 503, 504))


def test_an_unauthenticated_problem_has_www_authenticate() -> None:
    assert response(Unauthenticated("Send your key.")).headers["www-authenticate"] == "Bearer"


def test_a_long_sentence_is_cut() -> None:
    detail = problem(QueueFull("x" * 1_000_000))["detail"]
    assert (len(detail), detail[-2:]) == (MOST_DETAIL_CHARACTERS, "x…")
    assert problem(QueueFull("x" * MOST_DETAIL_CHARACTERS))["detail"] == "x" * MOST_DETAIL_CHARACTERS
