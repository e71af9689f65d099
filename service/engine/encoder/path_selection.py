"""The selection of a model's forward path: the fastest one that passes its checks, on the host and on its device."""

from __future__ import annotations

import logging

import torch

from service.engine.encoder import attention
from service.engine.encoder.checkpoint import Checkpoint
from service.engine.encoder.cuda.fused_check import fuse_on_device, is_exact_in_float32
from service.engine.encoder.cuda.fused_model import FusedModel
from service.engine.encoder.cuda.options import PLAIN, FusedOptions
from service.engine.encoder.forward_path import FUSED, ChosenPath, ForwardPath, PathReason
from service.engine.encoder.packing_check import packs_on_device, packs_on_host

log = logging.getLogger(__name__)


def path_on_host(checkpoint: Checkpoint, device: torch.device) -> ChosenPath:
    """The fastest path for which a model's code is fit, by checks in host memory; it keeps its own attention."""
    path = packs_on_host(checkpoint)
    if not path.packed or device.type != "cuda":
        return path
    with attention.own_attention_afterwards(checkpoint.model):
        attention.set_attention(checkpoint.model, attention.NAME)
        exact = is_exact_in_float32(checkpoint)
    return FUSED if exact else ChosenPath(ForwardPath.PACKED, PathReason.ARCHITECTURE)


def path_on_device(
    checkpoint: Checkpoint, path: ChosenPath, options: FusedOptions = PLAIN
) -> tuple[ChosenPath, FusedModel | None]:
    """The path that a model on its device takes, at most the one given, and its fused layers; sets its attention."""
    on_gpu = checkpoint.model.device.type == "cuda"
    if path.packed and on_gpu and not (found := packs_on_device(checkpoint)).packed:
        path = found
    if path.packed:
        attention.set_attention(checkpoint.model, attention.NAME)
    elif on_gpu:
        log.warning("a model runs padded, which is slow", extra={"folder": checkpoint.name, "reason": path.reason})
    return fuse_on_device(checkpoint, options) if path.fused else (path, None)
