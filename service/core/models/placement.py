"""Which models have their weights on the device and which wait outside. Pure: time is passed in.

The rules:
- Weights on the device stay within the budget; a model that is larger than the budget alone is there alone.
- Room is made by the least recently used that have no work, those that are `retired` before all others. One that has
  work leaves only for another that has, and only after it stayed `STAY_FACTOR` times as long as its coming took: so
  moving takes at most one part in `STAY_FACTOR` + 1 of the device's time, and nobody waits for ever.
- One that is on its way, or that is held (while it is loaded or proven), stays.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

STAY_FACTOR = 8.0
SHORTEST_STAY_SECONDS = 0.1


@dataclass(slots=True)
class _Model:
    weight_bytes: int
    here: bool
    used_seconds: float
    came_seconds: float | None = None
    cost_seconds: float = 0.0
    held: bool = False
    retired: bool = False

    def rank(self) -> tuple[bool, float]:
        """Among models with as much to do, the lowest leaves first."""
        return not self.retired, self.used_seconds

    def may_leave(self, now: float, *, busy: bool) -> bool:
        """Whether its place may be given to another."""
        if not self.here or self.held or self.came_seconds is None:
            return False
        stay = max(STAY_FACTOR * self.cost_seconds, SHORTEST_STAY_SECONDS)
        return not busy or now - self.came_seconds >= stay


class Placement:
    """The models of one device. `budget_bytes` is what their weights may take of it; None sets no limit."""

    def __init__(self, budget_bytes: int | None) -> None:
        self._budget_bytes = budget_bytes
        self._models: dict[str, _Model] = {}

    def __contains__(self, model: str) -> bool:
        return model in self._models

    def add(self, model: str, weight_bytes: int, now: float) -> None:
        """Know a model; it waits outside until it is brought."""
        assert model not in self._models, f"{model} is known already"
        self._models[model] = _Model(weight_bytes, False, now)

    def remove(self, model: str) -> None:
        """Forget a model, wherever it is."""
        self._models.pop(model, None)

    def is_here(self, model: str) -> bool:
        """Whether its weights are on the device or on their way there."""
        return self._models[model].here

    def hold(self, model: str, held: bool = True) -> None:
        """Let a model keep its place whatever happens, or no longer."""
        self._models[model].held = held

    def retire(self, model: str, retired: bool = True) -> None:
        """Let a model be the first to leave, or no longer."""
        self._models[model].retired = retired

    def use(self, model: str, now: float) -> None:
        """Note that work of this model was launched."""
        self._models[model].used_seconds = now

    def bring(self, model: str, now: float, busy: Container[str]) -> tuple[str, ...] | None:
        """Give a model a place on the device; returns those that must leave for it, or None if it has to wait.

        `busy` are the models that have work waiting. Until `arrived` is told, the model counts as on its way.
        """
        wanted = self._models[model]
        assert not wanted.here, f"{model} is here already"
        leaving = self._room_for(wanted.weight_bytes, now, busy)
        if leaving is None:
            return None
        for each in leaving:
            self.send_away(each)
        wanted.here, wanted.came_seconds, wanted.used_seconds = True, None, now
        return leaving

    def arrived(self, model: str, seconds: float, now: float) -> None:
        """Note that a model's coming is over and took so long; one that left meanwhile is let be."""
        found = self._models.get(model)
        if found is not None and found.here:
            found.came_seconds, found.cost_seconds = now, seconds

    def send_away(self, model: str) -> None:
        """Take a model's place from it."""
        self._models[model].here = False

    def here(self) -> tuple[str, ...]:
        """All that are on the device or on their way there."""
        return tuple(name for name, model in self._models.items() if model.here)

    def bytes_here(self) -> int:
        """What the weights on the device take."""
        return sum(model.weight_bytes for model in self._models.values() if model.here)

    def bytes_away(self) -> int:
        """What the weights outside would take."""
        return sum(model.weight_bytes for model in self._models.values() if not model.here)

    def _room_for(self, weight_bytes: int, now: float, busy: Container[str]) -> tuple[str, ...] | None:
        """Whom to send away: the idle before the busy, the retired before the others, then the least recently used."""
        if self._budget_bytes is None:
            return ()
        over = self.bytes_here() + weight_bytes - self._budget_bytes
        order = sorted(self._models.items(), key=lambda item: (item[0] in busy, *item[1].rank()))
        order = [(name, model) for name, model in order if model.here]
        leaving = []
        for name, model in order:
            if over <= 0:
                break
            if model.may_leave(now, busy=name in busy):
                leaving.append(name)
                over -= model.weight_bytes
        alone = len(leaving) == len(order)
        return tuple(leaving) if over <= 0 or alone else None
