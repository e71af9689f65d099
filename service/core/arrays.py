"""The two arrays that travel between workers and engine: a sequence's token ids, and its logits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

TokenIds: TypeAlias = npt.NDArray[np.int32]
"""Token ids of one sequence, special tokens included: `[tokens]`."""

Logits: TypeAlias = npt.NDArray[np.float32]
"""A score for each token and label: `[tokens, labels]`."""
