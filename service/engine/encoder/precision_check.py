"""The check, at load, that float16 holds a model's activations: its logits must be finite.

float16 ends at 65,504. Some models, such as XLM-RoBERTa's largest, have activations near or above that; the infinity
becomes NaN in the next normalisation and reaches every logit. bfloat16 has float32's range.
"""

from __future__ import annotations

import logging

import numpy as np
import torch

from service.engine.encoder.checkpoint import Checkpoint

SEQUENCES = 4
LONGEST_TOKENS = 256

log = logging.getLogger(__name__)


def dtype_without_overflow(checkpoint: Checkpoint, dtype: torch.dtype) -> torch.dtype:
    """The precision for a model that is on its device in `dtype`: float32, to which it is converted, if float16 fails.

    Its attention must be its own.
    """
    if dtype != torch.float16 or logits_are_finite(checkpoint):
        return dtype
    log.warning("float16 does not hold the model's activations; it runs in float32", extra={"folder": checkpoint.name})
    checkpoint.model.float()
    return torch.float32


@torch.inference_mode()
def logits_are_finite(checkpoint: Checkpoint) -> bool:
    """Run random tokens of the whole vocabulary, between the model's special tokens."""
    config, model = checkpoint.model.config, checkpoint.model
    length = min(LONGEST_TOKENS, checkpoint.max_tokens)
    ids = np.random.default_rng(0).integers(0, int(config.vocab_size), (SEQUENCES, length))
    for column, names in ((0, ("cls_token_id", "bos_token_id")), (-1, ("sep_token_id", "eos_token_id"))):
        special = next((found for name in names if (found := getattr(config, name, None)) is not None), None)
        if isinstance(special, int):
            ids[:, column] = special
    ids[ids == config.pad_token_id] = int(config.vocab_size) - 1
    logits = model(input_ids=torch.from_numpy(ids).to(model.device)).logits.cpu()
    return bool(torch.isfinite(logits).all())
