"""Memory of long documents is reserved before it is taken, and given back whatever becomes of them."""

from __future__ import annotations

import pytest

from service.core.admission.size import LONG_TOKENS, DocumentMemory
from service.core.errors import InsufficientMemory, QueueFull

FREE = 200_000_000
LABELS = 50
FITTING = 100_000
"""Tokens whose 70 MB fit into half of that, once."""


def test_a_short_document_reserves_nothing_and_asks_for_nothing() -> None:
    with DocumentMemory(lambda: 0).lease() as lease:
        lease.grow(LONG_TOKENS, LABELS)
        assert lease.bytes == 0


def test_a_lease_grows_with_its_document_and_ends_with_it() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as lease:
        lease.grow(FITTING // 5 * 4, LABELS)
        before = memory.reserved_bytes
        lease.grow(FITTING, LABELS)
        assert 0 < before < memory.reserved_bytes == lease.bytes
    assert memory.reserved_bytes == 0


def test_what_others_have_reserved_is_not_free() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as first, memory.lease() as second:
        first.grow(FITTING, LABELS)
        with pytest.raises(QueueFull, match="70 MB of memory reserved") as caught:
            second.grow(FITTING, LABELS)
        assert caught.value.retry_after_seconds
    with memory.lease() as third:
        third.grow(FITTING, LABELS)


def test_what_does_not_fit_alone_is_insufficient_memory() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as lease, pytest.raises(InsufficientMemory, match="140 MB of memory or more, and 100 MB are"):
        lease.grow(2 * FITTING, LABELS)
    assert memory.reserved_bytes == 0
