"""Path selection: chooses a model's fastest forward path and precision that pass their checks at load.

float16 ends at 65,504. Some models, such as the largest XLM-RoBERTa, have activations near or above that; the infinity
becomes NaN in the next normalisation and reaches every logit. The code of others makes float32 tensors of its own
(XLNet's positions, DeBERTa's), or uses an operation without half precision (FNet's Fourier transform), and raises.
"""

from __future__ import annotations

import logging

import numpy as np
import torch

from service.engine.device.selection import name_of
from service.engine.encoder import attention
from service.engine.encoder.forward_path import FUSED, ChosenPath, ForwardPath, PathReason
from service.engine.encoder.fused_check import fuse_on_device, is_exact_in_float32
from service.engine.encoder.model_state import state_kept
from service.engine.encoder.packed_model import ComputeRows, set_packed
from service.engine.encoder.packing_check import packs_on_host, reason_against_packing
from service.engine.encoder.padded_rows import path_of_rows, read_segments, run_padded
from service.engine.execution.device_errors import is_broken_device, is_out_of_memory
from service.families.engine.checkpoint import Checkpoint, first_line
from service.families.engine.page_input import example

SEQUENCES = 4
LONGEST_TOKENS = 256
"""Sequences, and tokens of each, in the random batch whose logits must be finite in half precision."""

log = logging.getLogger(__name__)


def path_on_host(checkpoint: Checkpoint, longest: int) -> ChosenPath:
    """Choose the fastest path on a GPU that passes checks in host memory; the model keeps its own attention.

    Args:
        longest: tokens of the longest sequence to try.
    """
    if _has_segments(checkpoint) or _has_pictures(checkpoint) or not packs_on_host(checkpoint):
        return path_of_rows(checkpoint, PathReason.ARCHITECTURE, longest)
    with attention.own_attention_afterwards(checkpoint.model):
        attention.set_attention(checkpoint.model, attention.NAME)
        exact = is_exact_in_float32(checkpoint)
    return FUSED if exact else ChosenPath(ForwardPath.PACKED, PathReason.ARCHITECTURE)


def _has_segments(checkpoint: Checkpoint) -> bool:
    """True if the tokenizer gives a text segment ids other than 0, which all tokens of a packed row have."""
    kinds = getattr(checkpoint.model.config, "type_vocab_size", None) or 0
    return kinds > 1 and read_segments(checkpoint) is not None


def _has_pictures(checkpoint: Checkpoint) -> bool:
    """True if the model adds a picture's tokens to those of a sequence, for which a packed row has no place."""
    return checkpoint.page is not None and checkpoint.page.picture is not None


def path_on_gpu(checkpoint: Checkpoint, path: ChosenPath, longest: int) -> tuple[ChosenPath, ComputeRows | None]:
    """Choose the path of a model on its GPU, no faster than the given one, and its computation of packed rows."""
    if path.packed and (reason := reason_against_packing(checkpoint)) is not PathReason.NONE:
        path = path_of_rows(checkpoint, reason, longest)
    if not path.packed:
        log.warning("a model is not packed, which is slow", extra={"folder": checkpoint.name, **path._asdict()})
        return path, None
    compute = set_packed(checkpoint.model)
    if not path.fused:
        return path, compute
    path, fused = fuse_on_device(checkpoint)
    return path, fused or compute


def dtype_that_runs(checkpoint: Checkpoint, dtype: torch.dtype) -> tuple[torch.dtype, str]:
    """Check a model on its device in `dtype`; returns `dtype`, or float32 and the reason if that fails.

    Args:
        checkpoint: its model has its own attention, and is turned into float32 if needed.
    """
    if dtype == torch.float32:
        return dtype, ""
    try:
        if logits_are_finite(checkpoint):
            return dtype, ""
        cause = f"in {name_of(dtype)} its scores are no numbers"
    except Exception as error:  # The model's own code, which may raise whatever it likes.
        if is_broken_device(error) or is_out_of_memory(error):
            raise
        cause = f"its code fails in {name_of(dtype)}: {first_line(error)}"
    log.warning("a model runs in float32", extra={"folder": checkpoint.name, "reason": cause})
    checkpoint.model.float()
    return torch.float32, cause


@torch.inference_mode()
def logits_are_finite(checkpoint: Checkpoint) -> bool:
    """Run random tokens of the whole vocabulary, between special tokens; the model must have its own attention."""
    config, model = checkpoint.model.config, checkpoint.model
    length = min(LONGEST_TOKENS, checkpoint.max_tokens)
    ids = np.random.default_rng(0).integers(0, int(config.vocab_size), (SEQUENCES, length))
    for column, names in ((0, ("cls_token_id", "bos_token_id")), (-1, ("sep_token_id", "eos_token_id"))):
        special = next((found for name in names if (found := getattr(config, name, None)) is not None), None)
        if isinstance(special, int):
            ids[:, column] = special
    ids[ids == config.pad_token_id] = int(config.vocab_size) - 1
    sequences = [example(row, checkpoint.page, seed) for seed, row in enumerate(ids.astype(np.int32))]
    with state_kept(model):
        logits = run_padded(model, sequences, page=checkpoint.page).cpu()
    return bool(torch.isfinite(logits).all())
