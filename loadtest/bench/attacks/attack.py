"""The form of an attack: a name, the finding that it repeats, and what it does to a service until its time is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from loadtest.bench.attacks.target import Target

Strike = Callable[[Target, float], Awaitable[None]]
"""Attacks a target until a time of `time.monotonic()`, and counts in `target.answers` what the attacker was told."""


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """An attack.

    Attributes:
        name: what a row is called.
        finding: the finding's letter and number, as `C1`.
        strike: does it.
        settings: of the attacked service, without their prefix; without any it is as it comes.
        disk_variables: environment variables that name a folder, which is then on a small disk.
        neighbour_sends: what the other client asks for meanwhile.
        probed_inside: `/livez` is asked for on an internal port, as containers and pods are probed.
        seconds: how long it lasts.
    """

    name: str
    finding: str
    strike: Strike
    settings: Mapping[str, object] = field(default_factory=dict)
    disk_variables: tuple[str, ...] = ()
    neighbour_sends: str = "text"
    probed_inside: bool = False
    seconds: float = 18.0
