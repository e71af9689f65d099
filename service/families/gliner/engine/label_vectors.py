"""Label vectors of a bi-encoder: each label is read once, by itself, and kept by its tokens.

A vector is the mean over all tokens of the label, special ones included, projected to the size of a word's state.
Labels that are missing are read together in one batch, in which none sees another.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import torch
from torch import nn

from service.core.arrays import TokenIds
from service.families.engine.checkpoint import Trunk
from service.families.free_labels.engine.head_parts import parted

MOST_LABELS = 10_000
"""Most vectors that are kept: 20 MB of 512 numbers each."""


class LabelVectors:
    """The vectors of the labels that came lately. Thread-safe: at worst a label is read once more."""

    def __init__(self, trunk: Trunk, projection: nn.Module, most_labels: int = MOST_LABELS) -> None:
        self._trunk = trunk
        self._projection = projection
        self._most_labels = most_labels
        self._known: OrderedDict[bytes, torch.Tensor] = OrderedDict()
        self._lock = Lock()

    def of(self, labels: Sequence[TokenIds], like: torch.Tensor) -> torch.Tensor:
        """The vector of each label, `[labels, size]`; `like`: words, whose size they have."""
        if not labels:
            return like.new_empty(0, like.shape[1])
        keys = [ids.tobytes() for ids in labels]
        found = self._look_up(keys)
        missing = {key: ids for key, ids in zip(keys, labels, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, self._read([*missing.values()]), strict=True))
            self._keep(fresh)
            found |= fresh
        return torch.stack([found[key] for key in keys])

    def _read(self, labels: Sequence[TokenIds]) -> list[torch.Tensor]:
        rows = parted(self._trunk.rows(labels).float(), [*map(len, labels)])
        projected: torch.Tensor = self._projection(torch.stack([each.mean(0) for each in rows]))
        return [*projected.unbind()]

    def _look_up(self, keys: Sequence[bytes]) -> dict[bytes, torch.Tensor]:
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def _keep(self, vectors: dict[bytes, torch.Tensor]) -> None:
        with self._lock:
            self._known.update(vectors)
            while len(self._known) > self._most_labels:
                self._known.popitem(last=False)
