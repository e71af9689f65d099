"""Failed keys: how often a wrong key is answered in full, by address and in all, before guessing is slowed down.

A good key is never slowed: it is looked up first. So this bounds what guessing costs, and shows it; that guessing is
hopeless comes from the length of the keys. Counted in each worker for itself. Pure: time is passed in.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

from service.core.scheduling.allowance import NOTHING_PAID, charged, wait_seconds

ADDRESS_BURST, ADDRESS_PER_SECOND = 10, 1.0
ALL_BURST, ALL_PER_SECOND = 160, 16.0
MOST_ADDRESSES = 4_096
"""The addresses that failed longest ago are forgotten beyond this."""


class FailedKeys:
    """The failures of lately."""

    def __init__(self) -> None:
        self._paid_until: OrderedDict[str, float] = OrderedDict()
        self._all_paid_until = NOTHING_PAID

    def record(self, address: str, now: float) -> float:
        """Count a failure from this address: 0.0, or the seconds that it shall wait before the next one."""
        network = _network(address)
        own = self._paid_until.get(network, NOTHING_PAID)
        wait = max(wait_seconds(own, now), wait_seconds(self._all_paid_until, now))
        if wait:
            return wait
        burst = (ADDRESS_BURST - 1) / ADDRESS_PER_SECOND
        self._paid_until[network] = charged(own, 1, ADDRESS_PER_SECOND, now, burst)
        self._paid_until.move_to_end(network)
        if len(self._paid_until) > MOST_ADDRESSES:
            self._paid_until.popitem(last=False)
        burst = (ALL_BURST - 1) / ALL_PER_SECOND
        self._all_paid_until = charged(self._all_paid_until, 1, ALL_PER_SECOND, now, burst)
        return 0.0


def _network(address: str) -> str:
    """Who owns one address of IPv6 owns at least its /64."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    return str(parsed) if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))
