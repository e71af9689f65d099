"""JSON bodies of the Open Inference Protocol's requests."""

from __future__ import annotations

from typing import Annotated

import msgspec

_MOST_DIMENSIONS = 8
_Size = Annotated[int, msgspec.Meta(ge=0)]


class TensorParameters(msgspec.Struct, frozen=True):
    """Parameters of one tensor."""

    binary_data_size: _Size | None = None
    binary_data: bool | None = None


class InputTensor(msgspec.Struct, frozen=True):
    """One input; `data` is flat or has the shape, and is absent where it follows in binary."""

    name: str
    datatype: str
    shape: Annotated[list[int], msgspec.Meta(max_length=_MOST_DIMENSIONS)]
    data: list[str | list[str]] | None = None
    parameters: TensorParameters | None = None

    @property
    def texts(self) -> list[str]:
        """Its data, flat."""
        return [text for each in self.data or () for text in ([each] if isinstance(each, str) else each)]


class OutputTensor(msgspec.Struct, frozen=True):
    """One output that is asked for."""

    name: str
    parameters: TensorParameters | None = None


class InferBody(msgspec.Struct, frozen=True):
    """The JSON of a request."""

    inputs: Annotated[list[InputTensor], msgspec.Meta(min_length=1, max_length=1)]
    id: str = ""
    parameters: dict[str, str | int | float | bool] = {}
    outputs: list[OutputTensor] | None = None
