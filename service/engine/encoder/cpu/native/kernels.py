"""The parked kernels as seen from outside: `encoder/acceleration.py` calls this module, and nothing else in here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from transformers import PreTrainedModel

from service.core.arrays import Logits
from service.engine.encoder import attention
from service.engine.encoder.attention_backends import BACKENDS
from service.engine.encoder.cpu.native.attention import NativeAttention, NativeInt8Attention
from service.engine.encoder.cpu.native.library import load
from service.engine.encoder.cpu.native.swap_layers import join_layers
from service.engine.encoder.cpu.native.swap_linears import compile_linears

ATTENTION, INT8_ATTENTION = "gleaner_packed_native", "gleaner_packed_native_int8"


def swap_linears(model: PreTrainedModel, dtype: torch.dtype, trial: Callable[[], object], *, int8: bool) -> bool:
    """Swap a model's linear layers for compiled ones and cast the rest to `dtype`; False if its layers stay.

    Args:
        trial: runs the model once.
    """

    def cast_and_try() -> None:
        model.to(dtype)
        trial()

    return dtype == torch.bfloat16 and compile_linears(model, cast_and_try, int8=int8)


def swap_layers(model: PreTrainedModel, trial: Callable[[], Sequence[Logits]], *, int8: bool) -> int:
    """Swap the attention of a packed model, and its layers where all their parts are compiled; returns how many layers.

    Args:
        trial: runs the model on a few sequences.
        int8: compute attention in 8-bit integers.
    """
    if load() is None:
        return 0
    attention.register(ATTENTION, (NativeAttention(), *BACKENDS))
    attention.register(INT8_ATTENTION, (NativeInt8Attention(), NativeAttention(), *BACKENDS))
    attention.set_attention(model, INT8_ATTENTION if int8 else ATTENTION)
    return join_layers(model, trial, int8=int8)
