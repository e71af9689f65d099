"""The tree of errors: whose fault an error is, by its code."""

from __future__ import annotations

from service.core.errors import BY_CODE, Overloaded, TooLongForDeadline, is_clients_to_mend


def test_what_a_client_can_mend_is_no_load() -> None:
    assert is_clients_to_mend(TooLongForDeadline.code)
    overload = [code for code, kind in BY_CODE.items() if issubclass(kind, Overloaded)]
    assert not any(map(is_clients_to_mend, [*overload, "insufficient_memory", "of_the_future"]))
