"""A packed batch: sequences laid end to end in one row, without padding.

Owns how token ids become the tensors of one forward pass, and which borders attention must keep. Knows nothing of the
model but the number that its positions start at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from service.core.arrays import Logits, TokenIds


@dataclass(frozen=True, slots=True, eq=False)
class PackedBatch:
    """One row of sequences.

    Attributes:
        input_ids: [1, total] int64.
        position_ids: [1, total] int64; restarts at each border.
        cu_seqlens: [n + 1] int32, cumulative lengths, on the same device.
        borders: cu_seqlens as Python numbers, so that host code need not wait for the device to read them.
        max_length: tokens of the longest sequence.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    cu_seqlens: torch.Tensor
    borders: tuple[int, ...]
    max_length: int

    def keywords(self) -> dict[str, Any]:
        """The keywords of a model's forward call; the last three reach attention."""
        return {
            "input_ids": self.input_ids,
            "position_ids": self.position_ids,
            "cu_seqlens": self.cu_seqlens,
            "borders": self.borders,
            "max_length": self.max_length,
        }

    def split(self, logits: npt.NDArray[np.float32]) -> list[Logits]:
        """Cut [total, labels] at the borders."""
        return [logits[start:stop] for start, stop in pairwise(self.borders)]


def pack(sequences: Sequence[TokenIds], device: torch.device, first_position: int = 0) -> PackedBatch:
    """Lay sequences end to end.

    Args:
        first_position: 0 for most models; the RoBERTa family counts positions from its padding index + 1.
    """
    lengths = np.fromiter((len(tokens) for tokens in sequences), dtype=np.int64, count=len(sequences))
    borders = (0, *accumulate(lengths.tolist()))
    starts = np.repeat(np.asarray(borders[:-1]), lengths)
    positions = np.arange(borders[-1]) - starts + first_position
    host = np.stack([np.concatenate(sequences).astype(np.int64), positions])
    rows = to_device(host, device)
    return PackedBatch(
        input_ids=rows[0:1],
        position_ids=rows[1:2],
        cu_seqlens=to_device(np.asarray(borders, dtype=np.int32), device),
        borders=borders,
        max_length=int(lengths.max()),
    )


def to_device(array: npt.NDArray[np.int64] | npt.NDArray[np.int32], device: torch.device) -> torch.Tensor:
    """A copy on the device, behind what is queued there; on a CPU the array itself."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor
