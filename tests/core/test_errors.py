"""The tree of errors: whose fault an error is, by its code."""

from __future__ import annotations

from service.core.errors import (
    BY_CODE,
    Overloaded,
    RequestError,
    TooLongForDeadline,
    is_clients_to_mend,
    is_server_error,
)

SERVER_ERRORS = {"internal_error", "model_error", "poison_document", "insufficient_memory", "engine_restarting"}
REFUSALS = {"queue_full", "rate_limited", "deadline_exceeded", "too_much_at_once", "not_ready", "draining"}
"""Errors by load, a start or an end. A new code is in one of these sets, or a request's own error."""


def test_what_a_client_can_mend_is_no_load() -> None:
    assert is_clients_to_mend(TooLongForDeadline.code)
    overload = [code for code, kind in BY_CODE.items() if issubclass(kind, Overloaded)]
    assert not any(map(is_clients_to_mend, [*overload, "insufficient_memory", "of_the_future"]))


def test_every_code_is_an_error_of_the_service_a_refusal_or_the_clients() -> None:
    clients = {code for code, kind in BY_CODE.items() if issubclass(kind, RequestError)}
    assert {code for code in BY_CODE if is_server_error(code)} == SERVER_ERRORS
    assert sorted([*clients, *REFUSALS, *SERVER_ERRORS]) == sorted(BY_CODE)
    assert not any(map(is_server_error, ["ok", ""]))
