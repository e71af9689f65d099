"""Packing check at load: compares a packed row with its sequences one by one, to see that a model keeps them apart.

The yardstick is the model itself, a token classifier or a trunk alone. `alone`: its logits for each sequence
with its own attention; `mixed`: those for the whole row, as of a model that ignores the borders.

- On the host, in float32, a packed row must be equal to `alone`, up to rounding. This proves that the model hands down
  the borders and takes the positions. In half precision rounding hides such faults: DeBERTa-v2's own code, which takes
  the positions and ignores the borders, would pass. Two layers of each kind prove it as well as all (layer_subset.py).
- On CUDA, in the served precision, it must be far nearer to `alone` than `mixed` is. This proves the kernel.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from transformers import PreTrainedModel

from service.core.arrays import TokenIds
from service.engine.encoder.forward_path import PathReason
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.model_state import state_kept
from service.engine.encoder.packed_batch import PackedBatch, pack
from service.engine.encoder.packed_model import packed_meanwhile
from service.families.engine.checkpoint import Checkpoint
from service.families.engine.page_input import example

LENGTHS = (24, 40)
LONG = 300
"""Tokens of a third sequence for models whose distant tokens share a position: over half of the usual buckets."""
LAYERS = 2
FLOAT32_TOLERANCE = 1e-4
"""Most error in float32, as a share of the largest logit."""
HALF_SHARE = 0.3
"""Most mean error of a packed row in half precision, as a share of a mixed row's."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Logits of one row [total, labels], or a trunk's hidden states."""

    packed: torch.Tensor
    alone: torch.Tensor
    mixed: torch.Tensor

    def is_exact(self) -> bool:
        scale = max(1.0, float(self.alone.abs().max()))
        return float((self.packed - self.alone).abs().max()) <= FLOAT32_TOLERANCE * scale

    def is_near(self) -> bool:
        error, mixed_error = (self.packed - self.alone).abs().mean(), (self.mixed - self.alone).abs().mean()
        return self.is_exact() or float(error) <= HALF_SHARE * float(mixed_error)


def packs_on_host(checkpoint: Checkpoint) -> bool:
    """Check a model in host memory, in float32; it keeps its own attention."""
    model = checkpoint.model
    with first_layers_only(model, LAYERS), in_float32(model), state_kept(model):
        trial = _try(checkpoint)
    return trial is not None and trial.is_exact()


def reason_against_packing(checkpoint: Checkpoint) -> PathReason:
    """Check a model that passed on the host on its device, as it is served; it keeps its own attention."""
    trial = _try(checkpoint)
    if trial is None:
        return PathReason.FAILED
    return PathReason.NONE if trial.is_near() else PathReason.ACCURACY


@torch.inference_mode()
def _try(checkpoint: Checkpoint) -> _Trial | None:
    """Run the trial; None if the model cannot run a packed row. It keeps its own attention."""
    model = checkpoint.model
    batch = example_batch(checkpoint)
    alone = torch.cat([_with_own_attention(model, batch, start, stop) for start, stop in pairwise(batch.borders)])
    mixed = _with_own_attention(model, batch, 0, batch.borders[-1])
    try:
        with packed_meanwhile(model) as compute:
            packed = compute(batch).cpu().float()
    except Exception as error:  # A model that fails on a packed row in any way can still be run padded.
        log.info("the model cannot run a packed row", extra={"reason": f"{type(error).__name__}: {error}"})
        return None
    return _Trial(packed, alone, mixed)


def example_batch(checkpoint: Checkpoint) -> PackedBatch:
    """Make a packed batch of random tokens on the model's device."""
    has_buckets = (getattr(checkpoint.model.config, "position_buckets", None) or 0) > 0
    wanted = (*LENGTHS, LONG) if has_buckets else LENGTHS
    lengths = [max(1, min(length, checkpoint.max_tokens // 2)) for length in wanted]
    examples = example_sequences(checkpoint, lengths)
    return pack(examples, checkpoint.model.device, checkpoint.first_position, checkpoint.page)


def example_sequences(checkpoint: Checkpoint, lengths: Sequence[int]) -> list[TokenIds]:
    """Make random tokens with a padding token in the middle, as texts may hold: it can shift positions.

    Where tokens have boxes, no two have the same one.
    """
    config, random = checkpoint.model.config, np.random.default_rng(0)
    size = int(config.vocab_size)
    sequences = [random.integers(size // 2, size, length).astype(np.int32) for length in lengths]
    for tokens in sequences:
        tokens[len(tokens) // 2] = tokens[len(tokens) // 2] if config.pad_token_id is None else config.pad_token_id
    return [example(tokens, checkpoint.page, seed) for seed, tokens in enumerate(sequences)]


def _with_own_attention(model: PreTrainedModel, batch: PackedBatch, start: int, stop: int) -> torch.Tensor:
    rows: torch.Tensor = model(**batch.tokens(start, stop))[0][0]
    return rows.cpu().float()


@contextmanager
def in_float32(model: PreTrainedModel) -> Iterator[None]:
    """Compute with the same weights in float32 meanwhile; the original weights come back bit for bit."""
    originals = [(parameter, parameter.data) for parameter in model.parameters()]
    for parameter, data in originals:
        parameter.data = data.float()
    try:
        yield
    finally:
        for parameter, data in originals:
            parameter.data = data
