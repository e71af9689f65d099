"""Rows of a batch on their way from the device to the host, in the precision they were computed in.

On CUDA the copy goes to pinned memory behind the forward pass, and whoever wants the rows waits for that copy only: the
next batch's kernels may be queued meanwhile. Logits travel as they are, 2 bytes each in half precision, and are widened
on the host, which is exact: decoding needs all labels of a token, so there is nothing to leave out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

HostCopy = Callable[[], npt.NDArray[np.float32]]
"""Waits, if need be, and gives the rows."""


def copy_to_host(rows: torch.Tensor) -> HostCopy:
    """Begin to bring rows [total, labels] to the host."""
    if rows.device.type != "cuda":
        return rows.float().numpy
    home = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
    home.copy_(rows, non_blocking=True)
    arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
    arrived.record(torch.cuda.current_stream(rows.device))

    def land() -> npt.NDArray[np.float32]:
        arrived.synchronize()
        return home.float().numpy()

    return land
