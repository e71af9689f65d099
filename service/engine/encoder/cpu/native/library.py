"""The shared library of the parked kernels (`csrc/`), where a C compiler was installed and the processor supports it.

Its threads are torch's own: it is compiled for OpenMP and uses the runtime that torch has loaded.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import torch

PRODUCTS_PER_THREAD = 1 << 22
"""Multiplications that are worth a further thread: some 50 microseconds."""


@cache
def load() -> ctypes.CDLL | None:
    """The library; None where there is none that runs here, so that callers use torch's operators."""
    for path in Path(__file__).parent.glob("_kernels*.so"):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:  # Built by another Python or system, or torch's OpenMP runtime does not match.
            continue
        return library if library.gleaner_kernels_work() else None
    return None


def function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the library with its types; the library must be there."""
    library = load()
    assert library is not None
    found = library[name]
    found.restype, found.argtypes = result, arguments
    return found


def threads_for(products: int) -> int:
    """Threads for this many multiplications, at most those that torch may use in the calling thread."""
    return max(1, min(torch.get_num_threads(), products // PRODUCTS_PER_THREAD))


def pointer(tensor: torch.Tensor | None) -> int | None:
    """The address of a tensor's data."""
    return None if tensor is None else tensor.data_ptr()
