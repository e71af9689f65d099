"""What the settings ask of fused layers on a GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FusedOptions:
    """Wishes; what a device or a model cannot do is left out, and said.

    Attributes:
        compiled_kernels: between products in 8 bits, try row operators that are compiled at load.
        float8: products in 8 bits.
    """

    compiled_kernels: bool = False
    float8: bool = False


PLAIN = FusedOptions()
