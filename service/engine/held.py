"""One revision that the engine holds: what is said of it, what runs it, and its weights, which may be away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.wire import ModelStatus

if TYPE_CHECKING:
    from service.engine.parking import Parkable
    from service.engine.runner import Runner


@dataclass(frozen=True, slots=True)
class Held:
    """A model that is made, whether or not it serves.

    `sizes`: equal for models whose batches take equal memory.
    """

    status: ModelStatus
    sizes: str
    runner: Runner
    weights: Parkable

    @property
    def revision(self) -> str:
        return self.status.revision
