"""Check of weights: every number of a safetensors file is finite. NaN and infinities make all scores NaN."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model_store.contents.safetensors_header import LENGTH_BYTES
from model_store.errors import FolderProblem

CHUNK_BYTES = 1 << 24
"""Read at a time; a multiple of every number's size."""
EXPONENTS = {
    "F64": ("<u8", 0x7FF << 52),
    "F32": ("<u4", 0xFF << 23),
    "F16": ("<u2", 0x1F << 10),
    "BF16": ("<u2", 0xFF << 7),
    "F8_E5M2": ("u1", 0x1F << 2),
}
"""Format → the integer that holds a number, and the bits of its exponent, which NaN and infinities have all set."""


def weight_problem(path: Path) -> FolderProblem | None:
    """The first tensor with a number that is not finite, as a reason to refuse the folder; None if there is none.

    The header must have been checked. Formats whose numbers are all finite are not read.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            tensors = json.loads(file.read(length))
        for name, tensor in tensors.items():
            if name != "__metadata__" and tensor["dtype"] in EXPONENTS:
                first, end = tensor["data_offsets"]
                if not _is_finite(path, LENGTH_BYTES + length + first, end - first, tensor["dtype"]):
                    sentence = f"{path.name} has numbers that are NaN or infinite, in the tensor {name!a}."
                    return FolderProblem("not_finite", f"{sentence} Its training diverged, or a conversion overflowed.")
    except OSError as error:
        return FolderProblem("unreadable", f"{path.name} cannot be read: {error.strerror}.")
    except (ValueError, LookupError, TypeError):
        return FolderProblem("header", f"{path.name} is no safetensors file: its header cannot be read.")
    return None


def _is_finite(path: Path, offset: int, size_bytes: int, number_format: str) -> bool:
    kind, exponent = EXPONENTS[number_format]
    return all(not ((chunk & exponent) == exponent).any() for chunk in _chunks(path, offset, size_bytes, kind))


def _chunks(path: Path, offset: int, size_bytes: int, kind: str) -> Iterator[NDArray[np.unsignedinteger]]:
    item_bytes = np.dtype(kind).itemsize
    with path.open("rb") as file:
        file.seek(offset)
        left = size_bytes // item_bytes
        while left > 0:
            chunk = np.fromfile(file, dtype=kind, count=min(left, CHUNK_BYTES // item_bytes))
            if not len(chunk):
                return
            left -= len(chunk)
            yield chunk
