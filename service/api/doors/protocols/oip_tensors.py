"""Tensors of the Open Inference Protocol: texts in, entities as JSON out, whatever carries them.

    input    `text`      BYTES [n] or [n, 1]    one text each, in UTF-8
    output   `entities`  BYTES, same shape      one JSON list each, of entities as /extract has them

Source: the specification (`inference_rest.md`) and its binary tensor data extension, as Triton's clients use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from service.api import problems
from service.api.schemas import DocumentResult, Options
from service.core.errors import GleanerError, InvalidOptions, MalformedRequest, Overloaded

INPUT, OUTPUT, DATATYPE = "text", "entities", "BYTES"
EXTENSIONS = ("binary_tensor_data",)
_LENGTH_BYTES = 4
_CLIENTS_OWN = frozenset(
    ("binary_data_output", "sequence_id", "sequence_start", "sequence_end", "priority", "timeout", "headers")
)
"""Parameters that are not options: what Triton's clients send of their own accord."""


@dataclass(frozen=True, slots=True)
class InferInput:
    """The texts of one request, and their tensor's shape."""

    texts: Sequence[str]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InferRequest:
    """One request for entities, whatever carried it."""

    model: str
    version: str
    id: str
    input: InferInput
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The model as options name it; a version is a revision or a tag."""
        return f"{self.model}@{self.version}" if self.version else self.model

    @property
    def options(self) -> dict[str, Any]:
        """The parameters that are options of /extract.

        Raises:
            InvalidOptions: one that is neither.
        """
        known = Options.model_fields.keys()
        strange = self.parameters.keys() - known - _CLIENTS_OWN
        if strange or "model" in self.parameters:
            raise InvalidOptions(f"There is no parameter {min(strange or {'model'})[:60]!r}.")
        return {
            name: value for name, value in self.parameters.items() if name in Options.model_fields.keys() - _CLIENTS_OWN
        }

    @property
    def timeout_seconds(self) -> float | None:
        """Triton's `timeout`, which is in microseconds; None without one."""
        value = self.parameters.get("timeout")
        return value / 1e6 if isinstance(value, int) and value > 0 else None


def read_input(name: str, datatype: str, shape: Sequence[int], texts: Sequence[bytes | str]) -> InferInput:
    """The one input of a request.

    Raises:
        MalformedRequest: its name, its type or its shape is another one, or a text is not UTF-8.
    """
    if (name, datatype) != (INPUT, DATATYPE):
        raise MalformedRequest(f"The input is `{INPUT}` of {DATATYPE}, not {name[:40]!r} of {datatype[:20]!r}.")
    if len(shape) not in (1, 2) or any(size < 0 for size in shape) or math.prod(shape) != len(texts):
        raise MalformedRequest(f"The shape {list(shape)[:8]} is not that of {len(texts)} texts.")
    try:
        return InferInput([text if isinstance(text, str) else text.decode() for text in texts], tuple(shape))
    except UnicodeDecodeError:
        raise MalformedRequest("A text is not UTF-8.") from None


def split_bytes(data: bytes, most: int) -> list[bytes]:
    """The elements of a BYTES tensor in binary: each with its length before it, in 32 bits, little-endian.

    Raises:
        MalformedRequest: a length points beyond the data, or there are more than `most` elements.
    """
    found, at = list[bytes](), 0
    while at < len(data):
        size = int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
        start, at = at + _LENGTH_BYTES, at + _LENGTH_BYTES + size
        if start > len(data) or at > len(data) or len(found) == most:
            raise MalformedRequest(f"The binary data is not that of at most {most} texts.")
        found.append(data[start:at])
    return found


def joined_bytes(elements: Sequence[bytes]) -> bytes:
    """A BYTES tensor in binary."""
    return b"".join(part for each in elements for part in (len(each).to_bytes(_LENGTH_BYTES, "little"), each))


def entities_json(results: Sequence[DocumentResult]) -> list[bytes]:
    """The elements of the output."""
    return [msgspec.json.encode(each.entities) for each in results]


def sentence(error: GleanerError) -> str:
    """An error in words, with the hint that Triton's clients do not show otherwise."""
    said = problems.problem(error)["detail"]
    wait = f" Retry after {problems.retry_after_seconds(error)} s." if isinstance(error, Overloaded) else ""
    return f"{said}{wait}"
