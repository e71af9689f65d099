"""Placement of weights: which models are on the device and which are offloaded. Pure: time is passed in.

The rules:
- Weights on the device stay within the budget; a model that is larger than the budget is there alone.
- The least recently used models without work are evicted first, `retired` ones before all others. A model with work is
  evicted only for another with work, and only after it stayed `STAY_FACTOR` times as long as its loading took: so
  moves take at most one part in `STAY_FACTOR` + 1 of the device's time, and no model waits for ever.
- A model that is being loaded, or is pinned (while it is loaded or checked), stays.

`ModelAliases`: a reference, as the settings name models, stands for one revision, or for none as long as none could be
brought up. The previous one is kept for requests that name it by its digest, and for a tag that moves back.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

STAY_FACTOR = 8.0
SHORTEST_STAY_SECONDS = 0.1


@dataclass(slots=True)
class _Model:
    weight_bytes: int
    on_device: bool
    used_seconds: float
    loaded_seconds: float | None = None
    cost_seconds: float = 0.0
    pinned: bool = False
    retired: bool = False

    def rank(self) -> tuple[bool, float]:
        """Order equally busy models; the lowest is evicted first."""
        return not self.retired, self.used_seconds

    def may_be_evicted(self, now: float, *, busy: bool) -> bool:
        if not self.on_device or self.pinned or self.loaded_seconds is None:
            return False
        stay = max(STAY_FACTOR * self.cost_seconds, SHORTEST_STAY_SECONDS)
        return not busy or now - self.loaded_seconds >= stay


class Placement:
    """The models of one device. `budget_bytes`: most bytes of their weights on it; None sets no limit."""

    def __init__(self, budget_bytes: int | None) -> None:
        self._budget_bytes = budget_bytes
        self._models: dict[str, _Model] = {}

    def __contains__(self, model: str) -> bool:
        return model in self._models

    def add(self, model: str, weight_bytes: int, now: float) -> None:
        """Add a model, offloaded."""
        assert model not in self._models, f"{model} is known already"
        self._models[model] = _Model(weight_bytes, False, now)

    def remove(self, model: str) -> None:
        self._models.pop(model, None)

    def is_on_device(self, model: str) -> bool:
        """True when its weights are on the device or on their way there."""
        return self._models[model].on_device

    def pin(self, model: str, pinned: bool = True) -> None:
        self._models[model].pinned = pinned

    def retire(self, model: str, retired: bool = True) -> None:
        """Make a model the first to be evicted, or no longer."""
        self._models[model].retired = retired

    def use(self, model: str, now: float) -> None:
        """Record that a batch of this model was launched."""
        self._models[model].used_seconds = now

    def place(self, model: str, now: float, busy: Container[str]) -> tuple[str, ...] | None:
        """Give a model a place on the device; returns the models evicted for it, or None if it has to wait.

        `busy`: models with waiting documents. Until `arrived` the model counts as being loaded.
        """
        wanted = self._models[model]
        assert not wanted.on_device, f"{model} is on the device already"
        leaving = self._evictions_for(wanted.weight_bytes, now, busy)
        if leaving is None:
            return None
        for each in leaving:
            self.evict(each)
        wanted.on_device, wanted.loaded_seconds, wanted.used_seconds = True, None, now
        return leaving

    def arrived(self, model: str, seconds: float, now: float) -> None:
        """Record the end of a model's loading and its seconds; one evicted meanwhile stays so."""
        found = self._models.get(model)
        if found is not None and found.on_device:
            found.loaded_seconds, found.cost_seconds = now, seconds

    def evict(self, model: str) -> None:
        self._models[model].on_device = False

    def on_device(self) -> tuple[str, ...]:
        """List the models on the device or on their way there."""
        return tuple(name for name, model in self._models.items() if model.on_device)

    def bytes_on_device(self) -> int:
        return sum(model.weight_bytes for model in self._models.values() if model.on_device)

    def bytes_off_device(self) -> int:
        return sum(model.weight_bytes for model in self._models.values() if not model.on_device)

    def _evictions_for(self, weight_bytes: int, now: float, busy: Container[str]) -> tuple[str, ...] | None:
        """Models to evict: idle before busy ones, retired before others, then the least recently used."""
        if self._budget_bytes is None:
            return ()
        over = self.bytes_on_device() + weight_bytes - self._budget_bytes
        order = sorted(self._models.items(), key=lambda item: (item[0] in busy, *item[1].rank()))
        order = [(name, model) for name, model in order if model.on_device]
        leaving = []
        for name, model in order:
            if over <= 0:
                break
            if model.may_be_evicted(now, busy=name in busy):
                leaving.append(name)
                over -= model.weight_bytes
        alone = len(leaving) == len(order)
        return tuple(leaving) if over <= 0 or alone else None


class ModelAliases:
    """The references of one engine, as its settings name them."""

    def __init__(self, revisions: Mapping[str, str | None]) -> None:
        self._revisions = dict(revisions)
        self._previous: dict[str, str] = {}
        self._problems: dict[str, str] = {}

    def revisions(self) -> dict[str, str | None]:
        """Map each reference to its revision, in the order of the settings."""
        return dict(self._revisions)

    def serving(self) -> dict[str, str]:
        """Map each reference that stands for a revision to it."""
        return {reference: revision for reference, revision in self._revisions.items() if revision is not None}

    def previous(self) -> dict[str, str]:
        """Map each reference that had another revision to it."""
        return dict(self._previous)

    def resolve(self, reference: str) -> str | None:
        return self._revisions[reference]

    def __contains__(self, revision: str) -> bool:
        return revision in self._revisions.values() or revision in self._previous.values()

    def switch(self, reference: str, revision: str) -> set[str]:
        """Let a reference stand for another revision; returns its former ones that are now unused."""
        previous, dropped = self._revisions[reference], self._previous.get(reference)
        self._revisions[reference] = revision
        if previous is None:
            return set()
        self._previous[reference] = previous
        former = {previous} if dropped is None else {previous, dropped}
        return former - set(self._revisions.values())

    def note_problem(self, reference: str, problem: str) -> None:
        """Record why a newer revision is rejected."""
        self._problems[reference] = problem

    def clear_problem(self, reference: str) -> None:
        self._problems.pop(reference, None)

    def problem(self, reference: str) -> str:
        """Look up why a newer revision is rejected; empty if none is."""
        return self._problems.get(reference, "")
