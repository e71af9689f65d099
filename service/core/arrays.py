"""The arrays that travel between workers and engine: a sequence's tokens, the pictures of pages, and logits."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

TokenIds: TypeAlias = npt.NDArray[np.int32]
"""Token ids of one sequence, special tokens included: `[tokens]`.

For a model that sees pages `[tokens, BOXED]`: each id, then the box of the token's word on its page: x0, y0, x1, y1.
"""
BOXED: Final = 5
"""Columns of a sequence whose tokens have boxes."""

Pictures: TypeAlias = npt.NDArray[np.uint8]
"""Pictures of pages, red, green and blue: `[pictures, 3, side, side]`, or one of them."""

Logits: TypeAlias = npt.NDArray[np.float32]
"""A score for each token and label: `[tokens, labels]`."""


def ids_in(sequence: TokenIds) -> TokenIds:
    """Return the token ids of a sequence, `[tokens]`; a view."""
    return sequence if sequence.ndim == 1 else sequence[:, 0]


def columns_in(sequence: TokenIds) -> Literal[1, 5]:
    """Count the numbers of each token: 1, or `BOXED`."""
    return 1 if sequence.ndim == 1 else BOXED


def with_ids(sequence: TokenIds, ids: TokenIds) -> TokenIds:
    """Replace a sequence's ids; its boxes stay."""
    if sequence.ndim == 1:
        return ids
    changed = sequence.copy()
    changed[:, 0] = ids
    return changed
