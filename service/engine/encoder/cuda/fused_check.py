"""The check, at load, that a model's fused layers compute what its own code computes on packed rows.

As packing_check.py: exactly, in float32, with two layers of each kind in host memory; and nearly, on the device and in
the precision that is served, with all of them. The second one proves the kernels.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial

import torch
from transformers import PreTrainedModel

from service.engine.cuda_graphs.validation import ROUNDING
from service.engine.encoder.attention import AttentionBackend, AttentionCall
from service.engine.encoder.attention_backends import BACKENDS
from service.engine.encoder.checkpoint import Checkpoint
from service.engine.encoder.cuda.compiled_rows import row_operators
from service.engine.encoder.cuda.fused_model import FusedModel, can_be_fused
from service.engine.encoder.cuda.options import PLAIN, FusedOptions
from service.engine.encoder.cuda.row_operators import TORCH_ROWS, RowOperators
from service.engine.encoder.forward_path import FUSED, ChosenPath, ForwardPath, PathReason
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.packing_check import FLOAT32_TOLERANCE, LAYERS, example_batch, in_float32
from service.engine.execution.packed_batch import PackedBatch

ORDERS = 5
"""Times the rounding that a graph of the same kernels may show: kernels and the order of additions differ here."""

FLOAT8_LIMIT = 0.3
"""Limit of the mean error with products in 8 bits, as a share of the mean size of the logits; mixed-up sequences have
about a half. Chosen, not fitted: it finds what is broken."""

log = logging.getLogger(__name__)


def is_exact_in_float32(checkpoint: Checkpoint) -> bool:
    """Compare in host memory, with packed attention set; the model is as before afterwards."""
    model = checkpoint.model
    with first_layers_only(model, LAYERS), in_float32(model):
        if not can_be_fused(model):
            return False
        batch = example_batch(checkpoint)
        own = _own_logits(checkpoint, batch)
        fused = FusedModel(model, backend_for(checkpoint))
        try:
            found = _logits(fused, batch)
        finally:
            fused.restore()
    scale = max(1.0, float(own.abs().max()))
    return float((found - own).abs().max()) <= FLOAT32_TOLERANCE * scale


def fuse_on_device(checkpoint: Checkpoint, options: FusedOptions = PLAIN) -> tuple[ChosenPath, FusedModel | None]:
    """Fuse a model that is on its device, with packed attention set; its own layers stay if the logits would change.

    What the options wish for is tried first; where it fails, the log says so and less is tried.
    """
    model, batch = checkpoint.model, example_batch(checkpoint)
    own = _own_logits(checkpoint, batch)
    on_gpu = model.device.type == "cuda"
    gelu_in_product = on_gpu and model.dtype != torch.float32
    reason = PathReason.NONE
    for float8 in (*_eight_bit_rows(model, options), None):
        make = partial(FusedModel, gelu_in_product=gelu_in_product, float8=float8)
        limit = _limit(model.dtype) if float8 is None else FLOAT8_LIMIT
        fused, reason = _try(checkpoint, batch, own, make, limit)
        if fused is not None:
            fused.forget_own_layers()
            return FUSED, fused
    return ChosenPath(ForwardPath.PACKED, reason), None


def _eight_bit_rows(model: PreTrainedModel, options: FusedOptions) -> Iterator[RowOperators]:
    """What may compute rows between products in 8 bits, the best first; nothing where 8 bits are not wished."""
    if options.float8 and options.compiled_kernels and model.device.type == "cuda":
        compiled = row_operators(model.device, model.dtype, int(model.config.hidden_size))
        if compiled is not TORCH_ROWS:
            yield compiled
    if options.float8:
        yield TORCH_ROWS


def _try(
    checkpoint: Checkpoint, batch: PackedBatch, own: torch.Tensor, make: Callable[..., FusedModel], limit: float
) -> tuple[FusedModel | None, PathReason]:
    """The fused model if it is accurate; else the model is as before, and the reason is logged."""
    fused = None
    try:
        fused = make(checkpoint.model, backend_for(checkpoint))
        error = _share(_logits(fused, batch) - own, own)
    except Exception as problem:  # A model that cannot be fused for any reason still runs by its own code.
        if fused is not None:
            fused.restore()
        log.warning("fused layers failed", extra={"folder": checkpoint.name, "reason": str(problem)})
        return None, PathReason.FAILED
    if not error <= limit:  # NaN as well.
        fused.restore()
        log.warning("fused layers are not accurate", extra={"folder": checkpoint.name, "error": error, "limit": limit})
        return None, PathReason.ACCURACY
    return fused, PathReason.NONE


def _limit(dtype: torch.dtype) -> float:
    return ORDERS * ROUNDING[str(dtype).removeprefix("torch.")]


def backend_for(checkpoint: Checkpoint) -> AttentionBackend:
    """The back-end for a model's layers on its device and in its precision."""
    config, weight = checkpoint.model.config, next(checkpoint.model.parameters())
    heads = int(config.num_attention_heads)
    rows = weight.new_zeros(1, heads, int(config.hidden_size) // heads)
    call = AttentionCall(rows, rows, rows, torch.tensor([0, 1]), (0, 1), 1, 1.0, None)
    return next(backend for backend in BACKENDS if backend.supports(call))


def _share(error: torch.Tensor, logits: torch.Tensor) -> float:
    """Mean error as a share of the mean size."""
    return float(error.abs().mean() / logits.abs().mean())


@torch.inference_mode()
def _own_logits(checkpoint: Checkpoint, batch: PackedBatch) -> torch.Tensor:
    logits: torch.Tensor = checkpoint.model(**batch.keywords()).logits[0]
    return logits.cpu().float()


@torch.inference_mode()
def _logits(fused: FusedModel, batch: PackedBatch) -> torch.Tensor:
    return fused(batch).cpu().float()
