"""A packed batch: sequences laid end to end in one row, without padding.

Owns how token ids become the tensors of one forward pass, and which borders the attention must keep. Does not know the
model, apart from the number its positions start at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

Tokens: TypeAlias = npt.NDArray[np.int32]
"""Token ids of one sequence, special tokens included: [tokens]."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedBatch:
    """One row of sequences.

    Attributes:
        input_ids: [1, total] int64.
        position_ids: [1, total] int64; restarts at each border.
        cu_seqlens: [n + 1] int32, cumulative lengths, on the same device.
        borders: cu_seqlens as Python numbers, for those who would otherwise wait for the device to read them.
        max_length: tokens of the longest sequence.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    cu_seqlens: torch.Tensor
    borders: tuple[int, ...]
    max_length: int

    def keywords(self) -> dict[str, Any]:
        """What a model's forward call takes; the last three reach the attention."""
        return {
            "input_ids": self.input_ids,
            "position_ids": self.position_ids,
            "cu_seqlens": self.cu_seqlens,
            "borders": self.borders,
            "max_length": self.max_length,
        }

    def split(self, rows: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
        """Cut rows [total, labels] at the borders."""
        return cut(rows, self.borders)


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """Sequences end to end in host memory.

    Attributes:
        rows: [2, total] int64: token ids, and positions, which restart at each border.
        borders: cumulative lengths.
        longest: tokens of the longest sequence.
    """

    rows: npt.NDArray[np.int64]
    borders: tuple[int, ...]
    longest: int


def pack(sequences: Sequence[Tokens], device: torch.device, first_position: int = 0) -> PackedBatch:
    """Lay sequences end to end on the device; see `lay_out`."""
    laid = lay_out(sequences, first_position)
    rows = to_device(laid.rows, device)
    return PackedBatch(
        input_ids=rows[0:1],
        position_ids=rows[1:2],
        cu_seqlens=to_device(np.asarray(laid.borders, dtype=np.int32), device),
        borders=laid.borders,
        max_length=laid.longest,
    )


def lay_out(sequences: Sequence[Tokens], first_position: int = 0) -> Laid:
    """Lay sequences end to end.

    Args:
        first_position: 0 for most; the RoBERTa family counts positions from its padding index + 1.
    """
    lengths = np.fromiter((len(tokens) for tokens in sequences), dtype=np.int64, count=len(sequences))
    borders = (0, *accumulate(lengths.tolist()))
    starts = np.repeat(np.asarray(borders[:-1]), lengths)
    positions = np.arange(borders[-1]) - starts + first_position
    return Laid(np.stack([np.concatenate(sequences).astype(np.int64), positions]), borders, int(lengths.max()))


def cut(rows: npt.NDArray[np.float32], borders: Sequence[int]) -> list[npt.NDArray[np.float32]]:
    """Cut rows [total, labels] at borders."""
    return [rows[start:stop] for start, stop in pairwise(borders)]


def to_device(array: npt.NDArray[np.int64] | npt.NDArray[np.int32], device: torch.device) -> torch.Tensor:
    """The array as a tensor there; on CUDA the copy is queued behind what the device was told before."""
    return on_its_way(array, device).to(device, non_blocking=True)


def on_its_way(array: npt.NDArray[np.int64] | npt.NDArray[np.int32], device: torch.device) -> torch.Tensor:
    """The array in host memory from which the device can fetch it by itself."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory() if device.type == "cuda" else tensor
