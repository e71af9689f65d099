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

from service.core.arrays import TokenIds, ids_in
from service.families.engine.checkpoint import to_device
from service.families.engine.page_input import PageInput


@dataclass(frozen=True, slots=True, eq=False)
class PackedBatch:
    """One row of sequences.

    Attributes:
        input_ids: [1, total] int64.
        position_ids: [1, total] int64; restarts at each border.
        cu_seqlens: [n + 1] int32, cumulative lengths, on the same device.
        borders: cu_seqlens as Python numbers, so that host code need not wait for the device to read them.
        max_length: tokens of the longest sequence.
        boxes: [1, total, 4] int64 or float32; None where tokens have none.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    cu_seqlens: torch.Tensor
    borders: tuple[int, ...]
    max_length: int
    boxes: torch.Tensor | None = None

    def keywords(self) -> dict[str, Any]:
        """Give the keywords of a model's forward call; the last three reach attention."""
        return {
            **self.tokens(0, self.borders[-1]),
            "position_ids": self.position_ids,
            "cu_seqlens": self.cu_seqlens,
            "borders": self.borders,
            "max_length": self.max_length,
        }

    def tokens(self, start: int, stop: int) -> dict[str, torch.Tensor]:
        """Give the keywords of a forward call that are about some tokens, without their places in a row."""
        found = {"input_ids": self.input_ids[:, start:stop]}
        return found if self.boxes is None else {**found, "bbox": self.boxes[:, start:stop]}


def pack(
    sequences: Sequence[TokenIds], device: torch.device, first_position: int = 0, page: PageInput | None = None
) -> PackedBatch:
    """Lay sequences end to end.

    Args:
        first_position: 0 for most models; the RoBERTa family counts positions from its padding index + 1, and gives
            each padding token of a text the padding index itself.
        page: how the boxes of tokens are read, where they have some.
    """
    lengths = np.fromiter((len(tokens) for tokens in sequences), dtype=np.int64, count=len(sequences))
    borders = (0, *accumulate(lengths.tolist()))
    tokens = np.concatenate(sequences)
    ids = ids_in(tokens).astype(np.int64)
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
        boxes=None if page is None else to_device(page.boxes(tokens), device).unsqueeze(0),
    )


def copy_to_host(logits: torch.Tensor) -> Callable[[], npt.NDArray[np.float32]]:
    """Start to copy [total, labels] logits to the host; the returned function waits for the copy.

    On CUDA it is queued behind the kernels before it, and the thread that waits for it sleeps: by default CUDA would
    spin on a whole core for as long as the GPU computes.
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
