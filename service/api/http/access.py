"""Access: the tenant of a request by its API key, and the charges to its rate limits, before its body is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from service.api.http.api_keys import presented_key
from service.api.http.client_rate_limiter import ClientRateLimiter, FailedKeys
from service.api.http.request_body import Body
from service.api.http.watched_keys import WatchedKeys, warn_if_exposed
from service.core.errors import Forbidden
from service.core.tenants import Tenant
from service.metrics.worker import WorkerMetrics
from service.settings import Settings


class Access:
    """The API keys in force, the recent failed keys and the rate limits of clients, in one worker."""

    def __init__(self, settings: Settings, metrics: WorkerMetrics) -> None:
        self.keys = watched_keys(settings, metrics)
        self._limiter = ClientRateLimiter(settings.sockets)
        self._failed_keys = FailedKeys()
        self._metrics = metrics
        self._most_bytes = settings.max_request_bytes

    def enter(self, headers: Mapping[str, str], address: str, now: float) -> Tenant:
        """The tenant whose request this is; its declared bytes are charged.

        Raises:
            Unauthenticated: a key is needed and none was sent.
            Forbidden: the key is unknown.
            RateLimited: the client is in debt, or too many unknown keys came.
        """
        tenant = self._tenant(presented_key(headers), address, now)
        if tenant.rates:
            self._limiter.decide(tenant, now).enforce()
            self._limiter.charge(tenant, "bytes", self._declared_bytes(headers), now)
        return tenant

    def brought(self, tenant: Tenant, headers: Mapping[str, str], body: Body, now: float) -> None:
        """Charge what a request's body held; its bytes only if they were not declared."""
        if tenant.rates:
            self._limiter.charge(tenant, "documents", len(body.sources), now)
            if not self._declared_bytes(headers):
                self._limiter.charge(tenant, "bytes", body.bytes, now)

    def served(self, tenant: Tenant, tokens: int, now: float) -> None:
        """Charge the tokens of a document that was answered."""
        if tenant.rates:
            self._limiter.charge(tenant, "tokens", tokens, now)

    def _tenant(self, key: str | None, address: str, now: float) -> Tenant:
        try:
            return self.keys.keys.tenant(key)
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
    for account in Path(settings.sockets).glob("door-*"):
        account.unlink(missing_ok=True)
