"""The form of a fault: a name, what it may cost, and what it does to a service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from loadtest.chaos.subject import Subject


@dataclass(frozen=True, slots=True)
class ChaosFault:
    """A fault.

    Attributes:
        strike: does it; returns when it is over.
        loses: open connections may be lost by it, and by nothing else.
        weight: in the draw.
        kills_engine: it may cost the engine's life, which a service survives twice a minute.
    """

    name: str
    strike: Callable[[Subject, Random], Awaitable[None]]
    loses: bool = False
    weight: float = 1.0
    kills_engine: bool = False
