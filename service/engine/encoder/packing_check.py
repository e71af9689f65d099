"""The proof that a model keeps the sequences of a packed row apart: packed against one by one, at load.

The yardstick is the model itself. `alone` is what each sequence gives through the model's ordinary path; `mixed` is
what the same row gives on that path without borders, as a model would that ignores them.

- On the CPU, in float32, a packed row must come out as `alone`, to rounding. This proves that the model hands our
  borders down and takes our positions. In half precision rounding hides such faults: DeBERTa-v2, which takes the
  positions and ignores the borders, passes there. Two layers of each kind prove it as well as all (see shallow).
- On CUDA, in the precision served, it must be far nearer to `alone` than `mixed` is. This proves the kernel.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from transformers import PreTrainedModel

from service.engine.encoder import attention
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.execution.packed_batch import PackedBatch, pack

LENGTHS = (24, 40)
LAYERS = 2
FLOAT32_TOLERANCE = 1e-4
"""Of the largest logit."""
HALF_SHARE = 0.3
"""Most that the mean error of a packed row may be of the mean error of a mixed one, in half precision."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Logits of one row: [total, labels]."""

    packed: torch.Tensor
    alone: torch.Tensor
    mixed: torch.Tensor

    def is_exact(self) -> bool:
        scale = max(1.0, float(self.alone.abs().max()))
        return float((self.packed - self.alone).abs().max()) <= FLOAT32_TOLERANCE * scale

    def is_near(self) -> bool:
        error, mistake = (self.packed - self.alone).abs().mean(), (self.mixed - self.alone).abs().mean()
        return self.is_exact() or float(error) <= HALF_SHARE * float(mistake)


def supports_packing(
    model: PreTrainedModel,
    device: torch.device,
    first_position: int,
    max_tokens: int,
) -> bool:
    """Move a model to its device and check it; it then has the packed attention if it passed, else its own."""
    own = model.config._attn_implementation
    with first_layers_only(model, LAYERS), _in_float32(model):
        trial = _try(model, first_position, max_tokens)
    passed = trial is not None and trial.is_exact()
    model.to(device)
    if passed and device.type != "cpu":
        attention.set_attention(model, own)
        trial = _try(model, first_position, max_tokens)
        passed = trial is not None and trial.is_near()
    attention.set_attention(model, attention.NAME if passed else own)
    return passed


def place(model: PreTrainedModel, device: torch.device, *, packed: bool) -> None:
    """Bring a model to its device without a trial, since one of the same configuration has shown what it can do."""
    model.to(device)
    if packed:
        attention.set_attention(model, attention.NAME)


@torch.inference_mode()
def _try(model: PreTrainedModel, first_position: int, max_tokens: int) -> _Trial | None:
    """None if the model cannot even run a packed row; ends with the packed attention set."""
    batch = _example(model, first_position, max_tokens)
    alone = torch.cat([_ordinary(model, batch, start, stop) for start, stop in pairwise(batch.borders)])
    mixed = _ordinary(model, batch, 0, batch.borders[-1])
    try:
        attention.set_attention(model, attention.NAME)
        packed = model(**batch.keywords()).logits[0].float()
    except Exception as error:  # Whatever a model raises on a packed row, it can still be run padded.
        log.info("the model cannot run a packed row", extra={"reason": f"{type(error).__name__}: {error}"})
        return None
    return _Trial(packed, alone, mixed)


def _example(model: PreTrainedModel, first_position: int, max_tokens: int) -> PackedBatch:
    size = int(model.config.vocab_size)
    random = np.random.default_rng(0)
    lengths = [max(1, min(length, max_tokens // 2)) for length in LENGTHS]
    sequences = [random.integers(size // 2, size, length).astype(np.int32) for length in lengths]
    for tokens in sequences:  # Padding would shift the RoBERTa family's own positions.
        tokens[tokens == model.config.pad_token_id] = size // 2 - 1
    return pack(sequences, model.device, first_position)


def _ordinary(model: PreTrainedModel, batch: PackedBatch, start: int, stop: int) -> torch.Tensor:
    logits: torch.Tensor = model(input_ids=batch.input_ids[:, start:stop]).logits[0]
    return logits.float()


@contextmanager
def _in_float32(model: PreTrainedModel) -> Iterator[None]:
    """The same weights in float32 for a while; half precision comes back bit by bit."""
    kept = [(parameter, parameter.data) for parameter in model.parameters()]
    for parameter, data in kept:
        parameter.data = data.float()
    try:
        yield
    finally:
        for parameter, data in kept:
            parameter.data = data
