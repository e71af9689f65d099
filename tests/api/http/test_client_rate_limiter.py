"""Guessed keys: some are answered in full, then they wait; what is remembered of them is bounded."""

from __future__ import annotations

from service.api.http.client_rate_limiter import ADDRESS_BURST, ALL_BURST, MOST_ADDRESSES, FailedKeys


def answered(failed: FailedKeys, addresses: list[str], now: float = 0.0) -> int:
    """How many of the failures from these addresses are answered in full."""
    return sum(not failed.decide(address, now).refuses for address in addresses)


def test_an_address_may_fail_a_few_times_and_then_once_a_second() -> None:
    failed = FailedKeys()
    assert answered(failed, ["192.0.2.1"] * 4_000) == ADDRESS_BURST
    wait = failed.decide("192.0.2.1", 0.0).retry_after_seconds
    assert wait is not None
    assert 0.0 < wait <= 1.0
    assert answered(failed, ["192.0.2.2"]) == 1, "another address is not slowed"
    assert answered(failed, ["192.0.2.1"] * 10, now=3.0) == 3


def test_all_addresses_together_have_a_limit_too() -> None:
    failed = FailedKeys()
    addresses = [f"10.{n // 65536}.{n // 256 % 256}.{n % 256}" for n in range(10_000)]
    assert answered(failed, addresses) == ALL_BURST


def test_the_addresses_of_one_network_of_ipv6_count_as_one() -> None:
    assert answered(FailedKeys(), [f"2001:db8::{n:x}" for n in range(1_000)]) == ADDRESS_BURST


def test_what_is_remembered_is_bounded() -> None:
    failed = FailedKeys()
    for n in range(2 * MOST_ADDRESSES):
        failed.decide(f"{n}" + "x" * 1_000, now=100.0 * n)
    assert len(failed._paid_until) == MOST_ADDRESSES
    assert max(map(len, failed._paid_until)) <= 64
