"""The library of our kernels (`*.c` in here), where the installation found a C compiler and the processor fits.

Its threads are torch's own: it is compiled for OpenMP and takes the runtime that torch has loaded.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import torch

WORK_OF_A_THREAD = 1 << 22
"""Products of two numbers that are worth a thread of their own: some 50 microseconds."""


@cache
def load() -> ctypes.CDLL | None:
    """None loses speed, nothing else: every caller has another way."""
    for path in Path(__file__).parent.glob("_kernels*.so"):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:  # Left there by another Python or system, or torch brought no OpenMP that fits.
            continue
        return library if library.gleaner_kernels_work() else None
    return None


def function(name: str, result: Any, *arguments: Any) -> Any:
    """One of the library's functions, with its types; for callers that saw that there is a library."""
    library = load()
    assert library is not None
    found = library[name]
    found.restype, found.argtypes = result, arguments
    return found


def threads_for(work: int) -> int:
    """How many threads so many products are worth, out of those that torch may use in the calling thread."""
    return max(1, min(torch.get_num_threads(), work // WORK_OF_A_THREAD))


def pointer(tensor: torch.Tensor | None) -> int | None:
    """Where a tensor's numbers begin."""
    return None if tensor is None else tensor.data_ptr()
