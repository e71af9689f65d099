"""Fused check at load: compares a model's fused layers with its own code on packed rows.

As in packing_check.py: exactly, in float32, with two layers of each kind in host memory; and nearly, on the device in
the served precision, with all layers. The second comparison proves the kernels.
"""

from __future__ import annotations

import logging

import torch
from transformers import PreTrainedModel

from service.engine.encoder.attention import AttentionBackend, example_call
from service.engine.encoder.attention_backends import TABLE
from service.engine.encoder.forward_path import FUSED, ChosenPath, ForwardPath, PathReason
from service.engine.encoder.fused_model import FusedModel, can_be_fused
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.packed_batch import PackedBatch
from service.engine.encoder.packing_check import FLOAT32_TOLERANCE, LAYERS, example_batch, in_float32
from service.families.engine.checkpoint import Checkpoint

LIMITS = {torch.float32: 5e-4, torch.float16: 0.025, torch.bfloat16: 0.1}
"""Most mean error of the fused logits, as a share of the mean size of the model's own: kernels and the order of
additions differ. Mixed-up sequences have about a half."""

log = logging.getLogger(__name__)


def is_exact_in_float32(checkpoint: Checkpoint) -> bool:
    """Compare in host memory, with packed attention set; the model is as before afterwards."""
    model = checkpoint.model
    with first_layers_only(model, LAYERS), in_float32(model):
        if not can_be_fused(model):
            return False
        batch = example_batch(checkpoint)
        own = _own_logits(checkpoint, batch)
        fused = FusedModel(model, _backend_of(model))
        try:
            found = _logits(fused, batch)
        finally:
            fused.restore()
    scale = max(1.0, float(own.abs().max()))
    return float((found - own).abs().max()) <= FLOAT32_TOLERANCE * scale


def fuse_on_device(checkpoint: Checkpoint) -> tuple[ChosenPath, FusedModel | None]:
    """Fuse a model that is on its device, with packed attention set; its own layers stay if the logits would change."""
    model, batch = checkpoint.model, example_batch(checkpoint)
    own = _own_logits(checkpoint, batch)
    gelu_in_product = model.device.type == "cuda" and model.dtype != torch.float32
    fused = None
    try:
        fused = FusedModel(model, _backend_of(model), gelu_in_product=gelu_in_product)
        error = _share(_logits(fused, batch) - own, own)
    except Exception as problem:  # A model that cannot be fused for any reason still runs by its own code.
        if fused is not None:
            fused.restore()
        log.warning("fused layers failed", extra={"folder": checkpoint.name, "reason": str(problem)})
        return ChosenPath(ForwardPath.PACKED, PathReason.FAILED), None
    limit = LIMITS[model.dtype]
    if not error <= limit:  # NaN as well.
        fused.restore()
        log.warning("fused layers are not accurate", extra={"folder": checkpoint.name, "error": error, "limit": limit})
        return ChosenPath(ForwardPath.PACKED, PathReason.ACCURACY), None
    fused.forget_own_layers()
    return FUSED, fused


def _backend_of(model: PreTrainedModel) -> AttentionBackend:
    """Choose the back-end for a model's layers on its device and in its precision."""
    return TABLE.backend_for(example_call(model, model.dtype, 1))


def _share(error: torch.Tensor, logits: torch.Tensor) -> float:
    return float(error.abs().mean() / logits.abs().mean())


@torch.inference_mode()
def _own_logits(checkpoint: Checkpoint, batch: PackedBatch) -> torch.Tensor:
    logits: torch.Tensor = checkpoint.model(**batch.keywords()).logits[0]
    return logits.cpu().float()


@torch.inference_mode()
def _logits(fused: FusedModel, batch: PackedBatch) -> torch.Tensor:
    return fused(batch).cpu().float()
