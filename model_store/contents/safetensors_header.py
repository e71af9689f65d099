"""Whether safetensors files and their index are whole. Pure: works on the bytes of a header and on decoded JSON.

The format (https://huggingface.co/docs/safetensors): 8 bytes of header length, little-endian; the header, a JSON object
of tensor name → {"dtype", "shape", "data_offsets": [begin, end]}; the data, to which the offsets refer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from model_store.contents.allowed_files import INDEX
from model_store.manifest import path_problem

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
"""The limit of the safetensors library itself."""


def header_length(start: bytes, size_bytes: int) -> int | None:
    """How many header bytes follow the first 8 of a file of `size_bytes`; None if it is no safetensors file."""
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    fits = len(start) >= LENGTH_BYTES and 2 <= length <= min(MAX_HEADER_BYTES, size_bytes - LENGTH_BYTES)
    return length if fits else None


def header_problem(name: str, header: bytes, size_bytes: int) -> str | None:
    """Why the file `name` with this header and size is not whole, as a sentence; None if it is."""
    try:
        tensors = json.loads(header)
        ends = [tensor["data_offsets"][1] for key, tensor in tensors.items() if key != "__metadata__"]
        end = max(ends, default=0) + LENGTH_BYTES + len(header)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{name} is no safetensors file: its header cannot be read."
    if end != size_bytes:
        return f"{name} has {size_bytes} bytes, but its header says {end}; it was not written or copied to its end."
    return None


def shards_of(index: Mapping[str, object]) -> frozenset[str] | None:
    """The names of the shards that an index (`{"weight_map": {tensor: shard}}`) refers to; None if it is no index."""
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        return None
    shards = frozenset(weight_map.values()) if all(isinstance(value, str) for value in weight_map.values()) else None
    return shards


def index_problems(shards: frozenset[str] | None, names: Collection[str]) -> list[str]:
    """One sentence for each shard that is named in the index and is not, or must not be, among `names`."""
    if shards is None:
        return [f"{INDEX} is no index: its `weight_map` must map tensor names to file names."]
    problems = []
    for shard in sorted(shards):
        if path_problem(shard) or "/" in shard:
            problems.append(f"{INDEX} names {shard!a}, which is not a plain file name of this folder.")
        elif not shard.endswith(".safetensors"):
            problems.append(f"{INDEX} names {shard}, which is no safetensors file.")
        elif shard not in names:
            problems.append(f"{INDEX} names the shard {shard}, which is not there.")
    return problems
