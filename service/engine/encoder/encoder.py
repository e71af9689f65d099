"""A token classifier from a Hugging Face folder: lists of token ids in, logits out.

Owns loading, the proof that the model can be packed, and one forward pass. Does not know documents, queues or memory.

A model that does not follow transformers' attention interface takes our attention's name without a murmur and then
mixes the sequences of a packed row. So each model must show at load that two sequences, packed, give what they give one
by one. One that cannot takes the padded path: slower, and right.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.device.dtype import INT8, name_of
from service.engine.encoder.acceleration import Kernels, accelerate_for_cpu, weight_bytes
from service.engine.encoder.attention_backends import register_packed_attention
from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.encoder.packing_check import place, supports_packing
from service.engine.execution.gpu_pipeline import copy_to_host
from service.engine.execution.packed_batch import PackedBatch, pack
from service.engine.execution.row_filling import fill, round_up

PADDING_SHARE = 0.1
"""Most of a padded group that may be padding."""

log = logging.getLogger(__name__)


def load_encoder(
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    packed: bool | None = None,
    native_kernels: bool = True,
) -> TransformersEncoder:
    """Read a folder's checkpoint and build its encoder with nothing in between.

    Raises:
        ModelError: the folder is no whole token classifier with safetensors weights.
    """
    checkpoint = read_checkpoint(folder, dtype, int8=int8)
    return build_encoder(checkpoint, device, dtype, int8=int8, packed=packed, native_kernels=native_kernels)


def build_encoder(
    checkpoint: Checkpoint,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    packed: bool | None = None,
    native_kernels: bool = True,
) -> TransformersEncoder:
    """Move a checkpoint's model to a device, check whether it can be packed, and adapt it to the processor.

    Args:
        checkpoint: used up: its model becomes the encoder's.
        int8: linear layers, and attention where it is compiled, compute in 8-bit integers, only the rest in `dtype`.
        packed: the packing check's result for a model of the same configuration on this device; None runs the check.
        native_kernels: False leaves the parked kernels out, as on a machine that cannot run them.
    """
    model, first_position, limit = checkpoint.model, checkpoint.first_position, checkpoint.max_tokens
    register_packed_attention()
    if packed is None:
        packed = supports_packing(model, device, first_position, limit)
    else:
        place(model, device, packed=packed)
    encoder = TransformersEncoder(checkpoint, device, INT8 if int8 else name_of(dtype), packed=packed)
    joined_layers = 0
    if device.type == "cpu":
        trial = partial(encoder.forward, _trial_sequences(encoder))
        encoder.kernels, joined_layers = accelerate_for_cpu(
            model, dtype, trial, int8=int8, packed=packed, native_kernels=native_kernels
        )
    facts = {"dtype": encoder.dtype_name, "kernels": encoder.kernels.value, "joined_layers": joined_layers}
    log.info("model loaded", extra={"folder": checkpoint.name, "packed": packed, **facts})
    return encoder


def _trial_sequences(encoder: TransformersEncoder) -> list[TokenIds]:
    """Two sequences of tokens that differ."""
    longest = min(encoder.max_tokens, encoder.vocabulary_size, 24)
    return [np.arange(length, dtype=np.int32) for length in (longest, (longest + 1) // 2)]


class TransformersEncoder:
    """A loaded token classifier on its device."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device, dtype_name: str, *, packed: bool) -> None:
        self.device = device
        self.max_tokens = checkpoint.max_tokens
        self.packed = packed
        self.kernels = Kernels.CUDA if device.type == "cuda" else Kernels.TORCH
        self.labels = checkpoint.labels
        self.dtype_name = dtype_name
        self.first_position = checkpoint.first_position
        self.vocabulary_size = int(checkpoint.model.config.vocab_size)
        self._model = checkpoint.model
        self._padding_id = checkpoint.model.config.pad_token_id or 0

    @property
    def module(self) -> torch.nn.Module:
        """The model itself, for those who move its weights."""
        module: torch.nn.Module = self._model
        return module

    @property
    def parameter_bytes(self) -> int:
        """Bytes of the weights, in the precision and layout that they have now."""
        return weight_bytes(self._model)

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given; raises what `begin` raises."""
        return self.begin(sequences)()

    @torch.inference_mode()
    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Compute, or on a GPU queue, a batch; what is returned waits for its logits, in the order given.

        Raises:
            InternalError: a sequence is empty or too long, or holds an id that the model lacks. On a CUDA device
                such a sequence would otherwise take the whole context down.
        """
        self.validate(sequences)
        if self.packed:
            batch = pack(self._filled(sequences), self.device, self.first_position)
            rows = copy_to_host(self.compute(batch))
            return lambda: batch.split(rows())[: len(sequences)]
        logits: dict[int, Logits] = {}
        for group in group_by_length([len(tokens) for tokens in sequences]):
            logits.update(zip(group, self._forward_padded([sequences[index] for index in group]), strict=True))
        return lambda: [logits[index] for index in range(len(sequences))]

    def compute(self, batch: PackedBatch) -> torch.Tensor:
        """One forward pass of a model that can be packed: rows [total, labels] on the device, perhaps only queued."""
        rows: torch.Tensor = self._model(**batch.keywords()).logits[0]
        return rows

    def validate(self, sequences: Sequence[TokenIds]) -> None:
        """Raises InternalError for sequences that the model cannot take; see `begin`."""
        for tokens in sequences:
            if not 0 < len(tokens) <= self.max_tokens:
                raise InternalError(f"a sequence of {len(tokens)} tokens; the model takes 1 to {self.max_tokens}")
            if tokens.min() < 0 or tokens.max() >= self.vocabulary_size:
                raise InternalError("a sequence with a token id outside the model's vocabulary")

    def _filled(self, sequences: Sequence[TokenIds]) -> Sequence[TokenIds]:
        """The sequences of a row; with filler behind them where oneDNN would cache primitives for each row's size."""
        if self.kernels is not Kernels.ONEDNN:
            return sequences
        return fill(sequences, round_up(sum(len(tokens) for tokens in sequences)), self.max_tokens)

    def _forward_padded(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        lengths = [len(tokens) for tokens in sequences]
        ids = np.full((len(sequences), max(lengths)), self._padding_id, dtype=np.int64)
        for row, tokens in zip(ids, sequences, strict=True):
            row[: len(tokens)] = tokens
        mask = np.arange(max(lengths)) < np.asarray(lengths)[:, None]
        output = self._model(
            input_ids=torch.from_numpy(ids).to(self.device),
            attention_mask=torch.from_numpy(mask.astype(np.int64)).to(self.device),
        )
        rows = output.logits.float().cpu().numpy()
        return [row[:length] for row, length in zip(rows, lengths, strict=True)]


def group_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Indices of sequences that are padded together: similar lengths, at most `PADDING_SHARE` of a group is padding."""
    groups: list[list[int]] = []
    filled_tokens = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[groups[-1][0]] if groups else 0
        padded_tokens = longest * (len(groups[-1]) + 1) if groups else 0
        if groups and filled_tokens + lengths[index] >= (1 - PADDING_SHARE) * padded_tokens:
            groups[-1].append(index)
            filled_tokens += lengths[index]
        else:
            groups.append([index])
            filled_tokens = lengths[index]
    return groups
