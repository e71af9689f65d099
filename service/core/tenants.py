"""Tenants: the limits of a client, as its line of the keys file sets them. Pure values.

A limit that is None does not exist; without any, a client has a weight of 1 and shares with the others.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

ANONYMOUS = "anonymous"
"""The client of every request where no keys are needed."""


Weight = Annotated[float, msgspec.Meta(gt=0, le=1_000)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Rate = Annotated[float, msgspec.Meta(gt=0, le=1e15)]


class ClientQuota(msgspec.Struct, frozen=True, omit_defaults=True):
    """Limits of a client in the engine's queue; they travel with each of its documents.

    Attributes:
        weight: divided by the weights of all clients with documents there, its share of device and queue.
        documents_in_flight: most documents admitted and not answered.
        queued_tokens: most tokens admitted and not launched.
    """

    weight: Weight = 1.0
    documents_in_flight: Count | None = None
    queued_tokens: Count | None = None


UNLIMITED = ClientQuota()
"""The quota of a client without limits of its own."""


class RateLimits(msgspec.Struct, frozen=True):
    """A client's limits per second, on average."""

    documents_per_second: Rate | None = None
    tokens_per_second: Rate | None = None
    bytes_per_second: Rate | None = None

    def __bool__(self) -> bool:
        return self is not UNLIMITED_RATES and self != UNLIMITED_RATES


UNLIMITED_RATES = RateLimits()


class Tenant(msgspec.Struct, frozen=True):
    """A client with its limits."""

    name: str
    quota: ClientQuota = UNLIMITED
    rates: RateLimits = UNLIMITED_RATES
