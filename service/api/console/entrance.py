"""The console's entrance: who may see more than the empty page. A pure decision of the settings and a Host header.

    keys are configured                 whoever sends one, as for /extract
    none, `on`                          everybody
    none, `auto`, on a loopback address whoever asks for it under a loopback name
    none, `auto`, on any other          nobody

A page of another site may have its own name lead to a loopback address (DNS rebinding) and then read what a browser on
this machine may read; its Host header gives it away.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal

from service.core.errors import Forbidden, Unauthenticated


@dataclass(frozen=True, slots=True)
class Entrance:
    """What decides: the setting, whether the service has keys, and the address that it listens on."""

    mode: Literal["auto", "on"]
    keyed: bool
    address: str

    def check(self, host: str) -> None:
        """Let a request with this Host header pass on to its key.

        Raises:
            Unauthenticated: there is no key that could be sent.
            Forbidden: the name that it came by is not one of this machine's own.
        """
        if self.keyed or self.mode == "on":
            return
        if not is_loopback(self.address):
            raise Unauthenticated(
                "The console is closed: the service listens to other machines and has no API keys. Give it keys, or "
                "set GLEANER_CONSOLE=on to open the console to everybody."
            )
        if not is_loopback(host_name(host)):
            raise Forbidden("The console answers to localhost only; GLEANER_CONSOLE=on opens it under other names.")


def host_name(host: str) -> str:
    """The name or address in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(name: str) -> bool:
    """True for `localhost` and for addresses that lead nowhere else."""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")
