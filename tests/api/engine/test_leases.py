"""Leases on revisions: counted, given back in any order, and with their owner where a stream may never begin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.api.engine.client import RevisionLeases


def test_a_revision_is_leased_until_its_last_context_ends() -> None:
    leases = RevisionLeases()
    with leases.hold("a"):
        with leases.hold("a"), leases.hold("b"):
            assert list(leases.revisions) == ["a", "b"]
        assert list(leases.revisions) == ["a"]
    assert list(leases.revisions) == []


def test_an_error_gives_the_lease_back() -> None:
    leases = RevisionLeases()
    with pytest.raises(ValueError, match="bug"), leases.hold("a"):
        raise ValueError("bug")
    assert list(leases.revisions) == []


def test_a_lease_ends_with_an_owner_that_was_never_started() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b""

    leases, owner = RevisionLeases(), stream()
    leases.hold_while_alive("a", owner)
    assert list(leases.revisions) == ["a"]
    del owner
    assert list(leases.revisions) == []
