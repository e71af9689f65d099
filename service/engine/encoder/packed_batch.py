"""Packed batches as tensors: sequences end to end in one row, without padding; and copies of logits to the host.

Turns token ids into the tensors of one forward pass, with the borders that attention must keep. Knows of the
model only its first position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from service.core.arrays import TokenIds
from service.families.engine.checkpoint import to_device

SMALLEST_STEP_TOKENS = 16
SIZES_PER_DOUBLING = 16

HostCopy = Callable[[], npt.NDArray[np.float32]]
"""Function that waits for a copy from the device and returns it."""


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
        """Give the keywords of a model's forward call; the last three reach attention."""
        return {
            "input_ids": self.input_ids,
            "position_ids": self.position_ids,
            "cu_seqlens": self.cu_seqlens,
            "borders": self.borders,
            "max_length": self.max_length,
        }


def pack(sequences: Sequence[TokenIds], device: torch.device, first_position: int = 0) -> PackedBatch:
    """Lay sequences end to end.

    Args:
        first_position: 0 for most models; the RoBERTa family counts positions from its padding index + 1, and gives
            each padding token of a text the padding index itself.
    """
    lengths = np.fromiter((len(tokens) for tokens in sequences), dtype=np.int64, count=len(sequences))
    borders = (0, *accumulate(lengths.tolist()))
    ids = np.concatenate(sequences).astype(np.int64)
    is_counted = ids != first_position - 1
    counted = np.concatenate([[0], np.cumsum(is_counted)])
    positions = (counted[1:] - np.repeat(counted[np.asarray(borders[:-1])], lengths)) * is_counted + first_position - 1
    host = np.stack([ids, positions])
    rows = to_device(host, device)
    return PackedBatch(
        input_ids=rows[0:1],
        position_ids=rows[1:2],
        cu_seqlens=to_device(np.asarray(borders, dtype=np.int32), device),
        borders=borders,
        max_length=int(lengths.max()),
    )


def round_up(tokens: int) -> int:
    """Round tokens up to a size: multiples of 16 up to 512, above that 16 sizes in each doubling.

    From 256 tokens on, sizes are 3 to 6 % apart; there are 64 up to 2,048 tokens.
    """
    power_above = 1 << (tokens - 1).bit_length()
    step = max(SMALLEST_STEP_TOKENS, power_above // (2 * SIZES_PER_DOUBLING))
    return -(-tokens // step) * step


def filler_lengths(tokens: int, longest: int) -> list[int]:
    """Divide `tokens` into as few sequences as possible, none over `longest`."""
    whole, rest = divmod(tokens, longest)
    return [longest] * whole + [rest] * (rest > 0)


def fill(sequences: Sequence[TokenIds], tokens: int, longest: int) -> list[TokenIds]:
    """Add filler sequences up to `tokens` of a row; packing keeps them apart from the real ones."""
    missing = tokens - sum(len(sequence) for sequence in sequences)
    return [*sequences, *(np.zeros(length, dtype=np.int32) for length in filler_lengths(missing, longest))]


def copy_to_host(logits: torch.Tensor) -> HostCopy:
    """Start to copy [total, labels] logits to the host; on CUDA the copy is queued behind the kernels before it.

    The thread that waits for it sleeps: by default CUDA would spin on a whole core for as long as the GPU computes.
    """
    if logits.device.type != "cuda":
        return logits.float().numpy
    pinned = torch.empty(logits.shape, dtype=logits.dtype, pin_memory=True)
    pinned.copy_(logits, non_blocking=True)
    copied = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    copied.record(torch.cuda.current_stream(logits.device))

    def wait() -> npt.NDArray[np.float32]:
        copied.synchronize()
        return pinned.float().numpy()

    return wait
