"""Checks of safetensors files: they and their index are complete, and every number is finite.

The format (https://huggingface.co/docs/safetensors): 8 bytes of header length, little-endian; the header, a JSON object
of tensor name → {"dtype", "shape", "data_offsets": [begin, end]}; the data, to which the offsets refer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model_store.contents.allowed_files import INDEX
from model_store.errors import FolderProblem
from model_store.manifest import path_problem

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
"""The limit of the safetensors library itself."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How the few lines begin that Git has in place of a file, until `git lfs pull` fetches it."""
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


def header_length(start: bytes, size_bytes: int) -> int | None:
    """The header's length in bytes, from a file's first 8; None if a file of `size_bytes` cannot be safetensors."""
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    fits = len(start) >= LENGTH_BYTES and 2 <= length <= min(MAX_HEADER_BYTES, size_bytes - LENGTH_BYTES)
    return length if fits else None


def header_problem(name: str, header: bytes, size_bytes: int) -> FolderProblem | None:
    """The reason why the file `name` with this header and size is not complete; None if it is."""
    try:
        tensors = json.loads(header)
        ends = [tensor["data_offsets"][1] for key, tensor in tensors.items() if key != "__metadata__"]
        end = max(ends, default=0) + LENGTH_BYTES + len(header)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return FolderProblem("header", f"{name} is no safetensors file: its header cannot be read.")
    if end != size_bytes:
        sentence = f"{name} has {size_bytes} bytes, but its header says {end}; it was not written or copied to its end."
        return FolderProblem("truncated", sentence)
    return None


def lfs_problem(name: str) -> FolderProblem:
    """The problem of a file that is Git LFS's pointer to the real one."""
    return FolderProblem(
        "lfs_pointer",
        f"{name} is a pointer of Git LFS and not the file itself; `git lfs pull` in the folder fetches it.",
    )


def tensor_names(header: bytes) -> frozenset[str]:
    """The tensors of a file whose header has been checked."""
    return frozenset(json.loads(header)) - {"__metadata__"}


def misplaced_problem(index: Mapping[str, object], tensors: Mapping[str, Collection[str]]) -> FolderProblem | None:
    """The problem of an index that names tensors which are not in their shards; `tensors`: those of each shard."""
    weight_map = index.get("weight_map")
    assert isinstance(weight_map, dict), "an index was checked"
    wrong = sorted(name for name, shard in weight_map.items() if shard in tensors and name not in tensors[shard])
    if not wrong:
        return None
    more = f" and so on for {len(wrong) - 1} more tensors" if len(wrong) > 1 else ""
    sentence = f"{INDEX} names the wrong shards: {wrong[0]!a} is not in {weight_map[wrong[0]]}{more}."
    return FolderProblem("misplaced", f"{sentence} model.save_pretrained(new_folder) writes both anew.")


def shards_of(index: Mapping[str, object]) -> frozenset[str] | None:
    """The shard names in an index (`{"weight_map": {tensor: shard}}`); None if it is not one."""
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        return None
    return frozenset(weight_map.values()) if all(isinstance(shard, str) for shard in weight_map.values()) else None


def index_problems(shards: frozenset[str] | None, names: Collection[str]) -> list[FolderProblem]:
    """A problem for each shard of the index that is not allowed or not among `names`."""
    if shards is None:
        sentence = f"{INDEX} is no index: its `weight_map` must map tensor names to file names."
        return [FolderProblem("index", sentence)]
    problems = []
    for shard in sorted(shards):
        if path_problem(shard) or "/" in shard:
            sentence = f"{INDEX} names {shard!a}, which is not a plain file name of this folder."
            problems.append(FolderProblem("shard_name", sentence))
        elif not shard.endswith(".safetensors"):
            problems.append(FolderProblem("shard_format", f"{INDEX} names {shard}, which is no safetensors file."))
        elif shard not in names:
            problems.append(FolderProblem("no_shard", f"{INDEX} names the shard {shard}, which is not there."))
    return problems


def weight_problem(path: Path) -> FolderProblem | None:
    """The first tensor with a number that is NaN or infinite, as a reason to refuse the folder; None if there is none.

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
