"""The labels of a training: which there are, which each set marks, and the tags that stand for them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from service.engine.tools.training.records import LabelledDocument, Marked

OUTSIDE = "O"
IGNORED = -100
"""A token that does not count in the loss; torch's own number for it."""


def marked_labels(documents: Iterable[LabelledDocument]) -> dict[str, frozenset[str]]:
    """Set → the labels that occur in it."""
    found: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        found[document.source].update(entity.label for entity in document.entities)
    return {source: frozenset(labels) for source, labels in found.items()}


def tags_of(labels: Iterable[str]) -> tuple[str, ...]:
    """The tags of a model with these labels (BIO)."""
    return (OUTSIDE, *(f"{prefix}-{label}" for label in sorted(labels) for prefix in "BI"))


def open_tags(tags: Sequence[str], marked: frozenset[str]) -> NDArray[np.bool_]:
    """bool `[tags]`: True for the tags that a word may have where a set says nothing, because it never marks them."""
    return np.array([tag != OUTSIDE and tag[2:] not in marked for tag in tags])


def token_tags(offsets: NDArray[np.int32], entities: Sequence[Marked], ids: dict[str, int]) -> NDArray[np.int64]:
    """The tag id of each token, `[tokens]`; `offsets` is `[tokens, 2]`. A token of two entities is the first one's."""
    found = np.full(len(offsets), ids[OUTSIDE], dtype=np.int64)
    free = np.ones(len(offsets), dtype=np.bool_)
    for entity in entities:
        inside = np.flatnonzero((offsets[:, 0] < entity.end) & (offsets[:, 1] > entity.start) & free)
        if len(inside):
            found[inside] = ids[f"I-{entity.label}"]
            found[inside[0]] = ids[f"B-{entity.label}"]
            free[inside] = False
    return found
