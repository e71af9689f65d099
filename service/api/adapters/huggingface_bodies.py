"""Body of Hugging Face's token classification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import msgspec

from service.api.bodies.kinds import Content

Strategy = Literal["none", "simple", "first", "average", "max"]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the pipeline beside its inputs; a null is as good as nothing."""

    aggregation_strategy: Strategy | None = None
    ignore_labels: list[str] | None = None
    stride: Annotated[int, msgspec.Meta(ge=0, lt=1 << 20)] | None = None


class TokenClassificationInput(msgspec.Struct, frozen=True):
    """A request's body; older clients also send `options`, which say nothing of the answer."""

    inputs: str | list[str]
    parameters: Parameters | None = None

    @property
    def texts(self) -> Sequence[str]:
        """The inputs as a list."""
        return (self.inputs,) if isinstance(self.inputs, str) else self.inputs

    def contents(self) -> list[Content]:
        return [*self.texts]

    def filled(self, contents: Sequence[Content]) -> Self:
        inputs = contents[0] if isinstance(self.inputs, str) else list(contents)
        return msgspec.structs.replace(self, inputs=inputs)
