"""Access of a worker: keys, limits a second and guessed keys, decided before a body is read."""

from __future__ import annotations

import asyncio
import hashlib
import time
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.types import Message

from service.api.http.access import ADDRESS_BURST, ALL_BURST, MOST_ADDRESSES, Access, FailedKeys, open_access
from service.api.http.api_keys import MOST_NAMES, ApiKeys
from service.api.http.request_body import BodyLimits, read_all
from service.core.errors import DocumentTooLarge, Forbidden, RateLimited, Unauthenticated
from service.core.tenants import ANONYMOUS, Tenant
from service.metrics.worker import WorkerMetrics
from service.settings import Settings
from tests.support.metric_values import value

LIMIT = BodyLimits(1_000_000)
LIMITS = "documents_per_second=2 tokens_per_second=100 bytes_per_second=1000"
ALICE = {"x-api-key": "a"}
BOB = {"x-api-key": "b"}


def settings(folder: Path, internal_port: int = 0) -> Settings:
    lines = ("alice", "a", LIMITS), ("bob", "b", "")
    text = "".join(f"{client} {hashlib.sha256(key.encode()).hexdigest()} {limits}\n" for client, key, limits in lines)
    return Settings(api_keys=text, runtime_dir=folder, internal_port=internal_port)


def worker(folder: Path) -> Access:
    made = Access(settings(folder), WorkerMetrics())
    made.keys.load()
    return made


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return worker(tmp_path)


def enter(access: Access, now: float = 0.0, declared: str = "") -> Tenant:
    return access.enter({**ALICE, "content-length": declared}, "192.0.2.1", now)


def waits(access: Access, now: float = 0.0) -> float:
    """Seconds that alice is told to wait; 0.0 when she is let in."""
    try:
        enter(access, now)
    except RateLimited as error:
        return error.retry_after_seconds or 0.0
    return 0.0


def test_documents_are_charged_once_they_are_counted_and_debts_wait(access: Access) -> None:
    access.charge(enter(access), "documents", 30, 0.0)
    assert waits(access) == pytest.approx(5.0), "10 s of the rate are free"
    assert waits(access, now=5.0) == 0.0


def read(access: Access, *chunks: bytes, **headers: str) -> None:
    """Read a body of these chunks with this head."""
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]

    async def receive() -> Message:
        return messages.pop(0) if messages else {"type": "http.request", "body": b""}

    limits = access.body_limits(enter(access), headers, LIMIT)
    asyncio.run(read_all(Request({"type": "http", "headers": []}, receive), limits))


def test_bytes_that_no_head_declared_are_charged_while_they_are_read(access: Access) -> None:
    read(access, b"." * 12_000, **{"content-length": "12000"})
    assert waits(access, now=time.monotonic()) == 0.0, "charged by their head"
    read(access, b"." * 6_000, b"." * 6_000)
    assert 1.0 < waits(access, now=time.monotonic()) <= 2.0


def test_a_body_that_is_too_long_is_charged_all_the_same(access: Access) -> None:
    with pytest.raises(DocumentTooLarge):
        read(access, *[b"." * 600_000] * 2)
    assert waits(access, now=time.monotonic()) > 1_000


def test_declared_bytes_are_charged_before_they_come(access: Access) -> None:
    enter(access, declared="12000")
    assert waits(access) == pytest.approx(2.0)


def test_a_declared_size_beyond_every_limit_is_no_debt_for_years(access: Access) -> None:
    for declared in ("-1", "²", "x", "9" * 5_000):
        enter(access, declared=declared)
    enter(access, declared="9" * 19)
    assert 0.0 < waits(access) <= Settings().max_request_bytes / 1_000


def test_tokens_are_charged_once_they_were_served(access: Access) -> None:
    access.charge(enter(access), "tokens", 1_500, 0.0)
    assert waits(access) == pytest.approx(5.0)


def test_all_workers_of_a_service_charge_one_account(tmp_path: Path) -> None:
    one, two = worker(tmp_path), worker(tmp_path)
    one.charge(enter(one), "documents", 15, 0.0)
    two.charge(enter(two), "documents", 15, 0.0)
    assert waits(one) == waits(two) == waits(worker(tmp_path)) == pytest.approx(5.0)


def test_a_service_forgets_the_debts_of_the_one_before_it(tmp_path: Path) -> None:
    before = worker(tmp_path)
    before.charge(enter(before), "documents", 1_000, 0.0)
    open_access(settings(tmp_path))
    assert waits(worker(tmp_path)) == 0.0


def test_without_a_folder_a_worker_counts_for_itself(tmp_path: Path) -> None:
    alone = worker(tmp_path / "nowhere")
    alone.charge(enter(alone), "documents", 30, 0.0)
    assert waits(alone) == pytest.approx(5.0)


def test_a_client_without_limits_has_no_account(access: Access, tmp_path: Path) -> None:
    bob = access.enter(BOB, "192.0.2.1", 0.0)
    for kind in ("documents", "bytes", "tokens"):
        access.charge(bob, kind, 10**9, 0.0)
    assert access.body_limits(bob, {}, LIMIT) is LIMIT
    assert access.enter(BOB, "192.0.2.1", 0.0) == bob
    assert list(tmp_path.glob("account-*")) == []


@pytest.mark.parametrize(("internal_port", "shown"), [(8081, "bob"), (0, "other")])
def test_load_is_counted_by_client_where_metrics_are_internal(tmp_path: Path, internal_port: int, shown: str) -> None:
    access = Access(settings(tmp_path, internal_port), WorkerMetrics())
    access.keys.load()
    access.charge(access.enter(BOB, "192.0.2.1", 0.0), "documents", 3, 0.0)
    access.charge(access.enter(BOB, "192.0.2.1", 0.0), "tokens", 70, 0.0)
    access.charge(Tenant(ANONYMOUS), "documents", 2, 0.0)
    access.charge(Tenant("removed"), "documents", 1, 0.0)
    metrics = access._metrics
    assert value(metrics.client_documents, client=shown) == 3 + (shown == "other")
    assert value(metrics.client_tokens, client=shown) == 70
    assert value(metrics.client_documents, client=ANONYMOUS) == 2
    assert value(metrics.client_documents, client="removed") == 0


def test_the_first_hundred_clients_have_names_in_metrics() -> None:
    tenants = {str(number): Tenant(f"client{number:03}") for number in range(2 * MOST_NAMES)}
    assert sorted(ApiKeys(tenants).first_names) == [f"client{number:03}" for number in range(MOST_NAMES)]


def test_guesses_are_slowed_and_a_good_key_from_the_same_address_never(access: Access) -> None:
    answers = {Forbidden: 0, RateLimited: 0}
    for number in range(3_890):
        with pytest.raises((Forbidden, RateLimited)) as caught:
            access.enter({"x-api-key": f"guess {number}"}, "192.0.2.1", 0.0)
        answers[caught.type] += 1
        assert access.enter(BOB, "192.0.2.1", 0.0).name == "bob"
    assert answers == {Forbidden: 10, RateLimited: 3_880}
    assert value(access._metrics.failed_keys.labels("rate_limited")) == 3_880


def test_a_request_without_a_key_is_told_how_to_send_one(access: Access) -> None:
    for _ in range(100):
        with pytest.raises(Unauthenticated):
            access.enter({}, "192.0.2.1", 0.0)


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


def test_addresses_of_ipv4_on_a_socket_of_both_kinds_fail_each_for_itself() -> None:
    failed = FailedKeys()
    for _ in range(ADDRESS_BURST):
        assert not failed.decide("::ffff:192.0.2.1", 0.0).refuses
    assert failed.decide("::ffff:192.0.2.1", 0.0).refuses
    assert failed.decide("192.0.2.1", 0.0).refuses
    assert not failed.decide("::ffff:192.0.2.2", 0.0).refuses
