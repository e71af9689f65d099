"""The door: what each client brings a second, in documents, tokens and bytes, beside what its line allows.

The rules:
- A request passes whole while its client is in debt for nothing; what it brings is charged, also beyond the allowance,
  and whoever is in debt is refused before his body is read (`core/scheduling/allowance`).
- Bytes are charged when they are declared, documents once the body is read, tokens once they were served.
- All workers of a service charge the same account, a file of three numbers in the runtime folder. Two charges at the
  very same moment may count as one: no lock is worth what it costs here.
"""

from __future__ import annotations

import hashlib
import logging
import mmap
import os
import struct
from pathlib import Path

from service.core.errors import RateLimited
from service.core.scheduling.allowance import NOTHING_PAID, charged, wait_seconds
from service.core.tenants import RateLimits, Tenant

KINDS = ("documents", "tokens", "bytes")
_NUMBER = struct.Struct("d")
_EMPTY = _NUMBER.pack(NOTHING_PAID) * len(KINDS)

log = logging.getLogger(__name__)


class Door:
    """The accounts of all clients that have limits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._accounts: dict[str, mmap.mmap | bytearray] = {}

    def check(self, tenant: Tenant, now: float) -> None:
        """Let a request in, or refuse it.

        Raises:
            RateLimited: its client is in debt.
        """
        if not tenant.rates:
            return
        account = self._account(tenant.name)
        for place, kind in enumerate(KINDS):
            rate = _rate(tenant.rates, kind)
            wait = wait_seconds(_read(account, place), now) if rate else 0.0
            if wait > 0.0:
                detail = f"More than {rate:g} {kind} a second came from this client."
                raise RateLimited(detail, retry_after_seconds=wait)

    def charge(self, tenant: Tenant, kind: str, amount: float, now: float) -> None:
        """Charge a client for this many `documents`, `tokens` or `bytes`."""
        rate = _rate(tenant.rates, kind)
        if rate and amount > 0:
            account, place = self._account(tenant.name), KINDS.index(kind)
            _write(account, place, charged(_read(account, place), amount, rate, now))

    def _account(self, name: str) -> mmap.mmap | bytearray:
        if name not in self._accounts:
            try:
                self._accounts[name] = _shared(self._folder / f"door-{hashlib.sha256(name.encode()).hexdigest()[:32]}")
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
