"""Checks that safetensors files and their index are complete, from a header's bytes and from decoded JSON. Pure.

The format (https://huggingface.co/docs/safetensors): 8 bytes of header length, little-endian; the header, a JSON object
of tensor name → {"dtype", "shape", "data_offsets": [begin, end]}; the data, to which the offsets refer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from model_store.contents.allowed_files import INDEX
from model_store.errors import FolderProblem
from model_store.manifest import path_problem

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
"""The limit of the safetensors library itself."""


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
