"""Access: the client of a request by its API key, and its rate limits: documents, tokens and bytes per second.

The rules:
- A request passes whole while its client is in debt for nothing; what it brings is charged, also beyond the allowance,
  and a client in debt is refused before the body is read (`core/admission/policy`).
- Bytes are charged when they are declared, or else while they are read; documents once they are read, and one for a
  body that is not what it should be; tokens once they were served.
- All workers of a service charge the same account, a file of three numbers in the runtime folder. Two charges at the
  very same moment may count as one: no lock is worth what it costs here.
- A valid key is never slowed: it is looked up first. Failed keys are counted by address and in all, in each worker for
  itself, which bounds what guessing costs; that guessing is hopeless comes from the length of the keys.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import mmap
import os
import struct
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from service.api.http.api_keys import WatchedKeys, presented_key, warn_if_exposed
from service.api.http.request_body import BodyLimits
from service.core.admission.policy import ADMIT, NOTHING_PAID, Decision, charged, in_debt
from service.core.errors import Forbidden
from service.core.tenants import ANONYMOUS, RateLimits, Tenant
from service.metrics.worker import WorkerMetrics
from service.settings import Settings
from service.signals.routes import OTHER

log = logging.getLogger(__name__)

KINDS = ("documents", "tokens", "bytes")
_NUMBER = struct.Struct("d")
_EMPTY = _NUMBER.pack(NOTHING_PAID) * len(KINDS)


class ClientRateLimiter:
    """The accounts of all clients that have limits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._accounts: dict[str, mmap.mmap | bytearray] = {}

    def decide(self, tenant: Tenant, now: float) -> Decision:
        """Admit a request, or refuse it while its client is in debt."""
        account = self._account(tenant.name)
        for place, kind in enumerate(KINDS):
            if rate := _rate(tenant.rates, kind):
                detail = f"More than {rate:g} {kind} a second came from this client."
                decision = in_debt(_read(account, place), now, detail)
                if decision.refuses:
                    return decision
        return ADMIT

    def charge(self, tenant: Tenant, kind: str, amount: float, now: float) -> None:
        """Charge a client for this many `documents`, `tokens` or `bytes`."""
        rate = _rate(tenant.rates, kind)
        if rate and amount > 0:
            account, place = self._account(tenant.name), KINDS.index(kind)
            _write(account, place, charged(_read(account, place), amount, rate, now))

    def _account(self, name: str) -> mmap.mmap | bytearray:
        if name not in self._accounts:
            try:
                self._accounts[name] = _shared(
                    self._folder / f"account-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
                )
            except OSError as error:
                log.warning("an account is this worker's alone: %s", error)
                self._accounts[name] = bytearray(_EMPTY)
        return self._accounts[name]


def _shared(path: Path) -> mmap.mmap:
    """The numbers of a file, which exist before it is mapped: a full disk fails here and not later."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(handle).st_size < len(_EMPTY):
            os.pwrite(handle, _EMPTY, 0)
        return mmap.mmap(handle, len(_EMPTY))
    finally:
        os.close(handle)


def _rate(rates: RateLimits, kind: str) -> float | None:
    rate: float | None = getattr(rates, f"{kind}_per_second")
    return rate


def _read(account: mmap.mmap | bytearray, place: int) -> float:
    number: float = _NUMBER.unpack_from(account, place * _NUMBER.size)[0]
    return number


def _write(account: mmap.mmap | bytearray, place: int, number: float) -> None:
    _NUMBER.pack_into(account, place * _NUMBER.size, number)


ADDRESS_BURST, ADDRESS_PER_SECOND = 10, 1.0
ALL_BURST, ALL_PER_SECOND = 160, 16.0
MOST_ADDRESSES = 4_096
"""Most addresses with failures that are remembered; the oldest is forgotten first."""


class FailedKeys:
    """The recent failures, by address and in all."""

    def __init__(self) -> None:
        self._paid_until: OrderedDict[str, float] = OrderedDict()
        self._all_paid_until = NOTHING_PAID

    def decide(self, address: str, now: float) -> Decision:
        """Count a failure from this address; refuse it as `rate_limited` where too many came."""
        network = _network(address)
        own = self._paid_until.get(network, NOTHING_PAID)
        detail = "Too many requests with unknown keys came; good keys are not affected."
        decision = in_debt(max(own, self._all_paid_until), now, detail)
        if decision.refuses:
            return decision
        burst = (ADDRESS_BURST - 1) / ADDRESS_PER_SECOND
        self._paid_until[network] = charged(own, 1, ADDRESS_PER_SECOND, now, burst)
        self._paid_until.move_to_end(network)
        if len(self._paid_until) > MOST_ADDRESSES:
            self._paid_until.popitem(last=False)
        burst = (ALL_BURST - 1) / ALL_PER_SECOND
        self._all_paid_until = charged(self._all_paid_until, 1, ALL_PER_SECOND, now, burst)
        return ADMIT


def _network(address: str) -> str:
    """The network that a failure counts for: of IPv6 the /64, which whoever has one of its addresses owns."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return str(parsed) if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))


class Access:
    """The API keys in force, the recent failed keys and the rate limits of clients, in one worker."""

    def __init__(self, settings: Settings, metrics: WorkerMetrics) -> None:
        self.keys = watched_keys(settings, metrics)
        self._limiter = ClientRateLimiter(settings.sockets)
        self._failed_keys = FailedKeys()
        self._metrics = metrics
        self._loads = {"documents": metrics.client_documents, "tokens": metrics.client_tokens}
        self._shows_names = bool(settings.internal_port)
        self._most_bytes = settings.max_request_bytes

    def enter(self, headers: Mapping[str, str], address: str, now: float) -> Tenant:
        """The tenant whose request this is; its declared bytes are charged.

        Raises:
            Unauthenticated: a key is needed and none was sent.
            Forbidden: the key is unknown.
            RateLimited: the client is in debt, or too many unknown keys came.
        """
        tenant = self.tenant(headers, address, now)
        self.admit(tenant, headers, now)
        return tenant

    def admit(self, tenant: Tenant, headers: Mapping[str, str], now: float) -> None:
        """Charge a tenant for the declared bytes of its request.

        Raises:
            RateLimited: the client is in debt.
        """
        if tenant.rates:
            self._limiter.decide(tenant, now).enforce()
            self._limiter.charge(tenant, "bytes", self._declared_bytes(headers), now)

    def charge(self, tenant: Tenant, kind: str, amount: float, now: float) -> None:
        """Charge a client for `documents`, `tokens` or `bytes`."""
        if kind in self._loads:
            self._loads[kind].labels(self._shown_name(tenant)).inc(amount)
        if tenant.rates:
            self._limiter.charge(tenant, kind, amount, now)

    def _shown_name(self, tenant: Tenant) -> str:
        """Metrics label of a client; hidden where /metrics is public."""
        named = tenant.name == ANONYMOUS or (self._shows_names and tenant.name in self.keys.keys.first_names)
        return tenant.name if named else OTHER

    def body_limits(self, tenant: Tenant, headers: Mapping[str, str], limits: BodyLimits) -> BodyLimits:
        """These limits for a body with this head; bytes that it did not declare are charged while they are read."""
        if not tenant.rates or self._declared_bytes(headers):
            return limits
        return replace(limits, on_read=lambda count: self.charge(tenant, "bytes", count, time.monotonic()))

    def tenant(self, headers: Mapping[str, str], address: str, now: float) -> Tenant:
        """The tenant whose key these headers have.

        Raises:
            Unauthenticated, Forbidden, RateLimited: as `enter`.
        """
        try:
            return self.keys.keys.tenant(presented_key(headers))
        except Forbidden:
            decision = self._failed_keys.decide(address, now)
            self._metrics.failed_keys.labels(decision.code or "forbidden").inc()
            if decision.refuses:
                raise decision.error from None
            raise

    def _declared_bytes(self, headers: Mapping[str, str]) -> int:
        declared = headers.get("content-length", "")
        return min(int(declared), self._most_bytes) if declared.isdecimal() and len(declared) < 20 else 0


def watched_keys(settings: Settings, metrics: WorkerMetrics | None = None) -> WatchedKeys:
    """The keys that the settings name, not yet read."""
    last_good = settings.sockets / "keys"
    if metrics is None:
        return WatchedKeys(settings.api_keys_file, settings.api_keys, last_good)
    return WatchedKeys(
        settings.api_keys_file, settings.api_keys, last_good, lambda bad: metrics.keys_rejected.set(float(bad))
    )


def open_access(settings: Settings) -> None:
    """Before the first worker of a service: keep its keys for all of them, and drop accounts of an earlier service.

    Raises:
        BadKeysFile: there is no service with bad keys.
    """
    watched_keys(settings).load(first=True)
    warn_if_exposed(settings.api_keys_file)
    for account in Path(settings.sockets).glob("account-*"):
        account.unlink(missing_ok=True)
