"""Acceleration of a model for the CPU that runs it: swaps its modules and attention for faster ones of this processor.

The one caller of `cpu/` and of the parked kernels in `cpu/native/`. A model's code stays as it is; a model that fails
with the new modules keeps its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

import torch
from transformers import PreTrainedModel

from service.core.arrays import Logits
from service.engine.encoder.checkpoint import parameter_bytes
from service.engine.encoder.cpu.int8_linear import quantize_linears
from service.engine.encoder.cpu.module_swap import PrepackedModule
from service.engine.encoder.cpu.native import kernels as native
from service.engine.encoder.cpu.prepacked_linear import prepack_linears


class Kernels(StrEnum):
    """The implementation of a model's linear layers, as logs and /models name it."""

    NATIVE = "native"
    """The parked kernels of `cpu/native/`."""
    ONEDNN = "onednn"
    """oneDNN, which makes and caches a primitive for each number of rows."""
    TORCH = "torch"
    """torch's own matrix product, in float32 on a CPU."""
    CUDA = "cuda"
    """torch's, on a GPU."""
    NVRTC = "nvrtc"
    """On a GPU, those that were compiled at load (`cuda/compiled_rows.py`) beside torch's."""


class Acceleration(NamedTuple):
    """The result for one model: its kernels, and the number of its layers that became one call each."""

    kernels: Kernels
    joined_layers: int = 0


def accelerate_for_cpu(
    model: PreTrainedModel,
    dtype: torch.dtype,
    trial: Callable[[], Sequence[Logits]],
    *,
    int8: bool,
    packed: bool,
    native_kernels: bool = True,
) -> Acceleration:
    """Swap a model's linear layers, and of a packed one whole layers, for the fastest that it can run with.

    Args:
        model: on the CPU, in float32 if `int8`, else in `dtype`; afterwards in `dtype`.
        trial: runs the model on a few sequences.
        int8: linear layers, and attention where it is compiled, compute in 8-bit integers.
        native_kernels: False leaves the parked kernels out, as on a machine that cannot run them.
    """
    swapped = native_kernels and native.swap_linears(model, dtype, trial, int8=int8)
    kernels = Kernels.NATIVE if swapped else _use_onednn(model, dtype, trial, int8=int8)
    joined_layers = native.swap_layers(model, trial, int8=int8) if native_kernels and packed else 0
    return Acceleration(kernels, joined_layers)


def weight_bytes(model: torch.nn.Module) -> int:
    """Bytes of a model's weights in the precision and layout that they have now."""
    prepacked = (each.weight_bytes for each in model.modules() if isinstance(each, PrepackedModule))
    return parameter_bytes(model) + sum(prepacked)


def _use_onednn(model: PreTrainedModel, dtype: torch.dtype, trial: Callable[[], object], *, int8: bool) -> Kernels:
    if int8:
        quantize_linears(model)
        model.to(dtype)
    if dtype == torch.bfloat16:
        prepack_linears(model, trial)
    return Kernels.ONEDNN if int8 or dtype == torch.bfloat16 else Kernels.TORCH
