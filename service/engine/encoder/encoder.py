"""An encoder from a Hugging Face checkpoint: runs a token classifier on lists of token ids and returns its logits.

Owns loading and one forward pass. Knows no documents, queues or memory limits.

A model that does not follow transformers' attention interface accepts packed attention's name without an error and then
mixes the sequences of a packed row. So each model is checked at load (path_selection.py). One that does not pass is run
padded: slower, and correct.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.device.dtype import FP8, INT8, name_of
from service.engine.encoder import attention
from service.engine.encoder.acceleration import Kernels, accelerate_for_cpu, weight_bytes
from service.engine.encoder.attention_backends import register_packed_attention
from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.encoder.cuda.fused_model import FusedModel
from service.engine.encoder.cuda.options import PLAIN, FusedOptions
from service.engine.encoder.forward_path import ChosenPath
from service.engine.encoder.padding import group_by_length, pad
from service.engine.encoder.path_selection import path_on_device, path_on_host
from service.engine.encoder.precision_check import dtype_without_overflow
from service.engine.execution.gpu_pipeline import HostCopy, copy_to_host
from service.engine.execution.packed_batch import PackedBatch, pack, to_device
from service.engine.execution.row_filling import fill, round_up

log = logging.getLogger(__name__)


def load_encoder(
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    known: ChosenPath | None = None,
    native_kernels: bool = True,
    options: FusedOptions = PLAIN,
) -> TransformersEncoder:
    """Read a folder's checkpoint and build its encoder with nothing in between; for arguments, see `build_encoder`.

    Raises:
        ModelError: the folder is no complete token classifier with safetensors weights.
    """
    checkpoint = read_checkpoint(folder, dtype, int8=int8)
    return build_encoder(
        checkpoint, device, dtype, int8=int8, known=known, native_kernels=native_kernels, options=options
    )


def build_encoder(
    checkpoint: Checkpoint,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    known: ChosenPath | None = None,
    native_kernels: bool = True,
    options: FusedOptions = PLAIN,
) -> TransformersEncoder:
    """Move a checkpoint's model to a device, choose its forward path, and accelerate it on a CPU.

    Args:
        checkpoint: used up: its model becomes the encoder's.
        int8: linear layers, and attention where it is compiled, compute in 8-bit integers, only the rest in `dtype`.
        known: the path of a model of the same configuration on this device, for which the checks on the host are left
            out; None runs them.
        native_kernels: False leaves the parked kernels out, as on a machine that cannot run them.
        options: of fused layers on a GPU.
    """
    model = checkpoint.model
    register_packed_attention()
    path = path_on_host(checkpoint, device) if known is None else known
    model.to(device)
    if device.type == "cuda":
        dtype = dtype_without_overflow(checkpoint, dtype)
    path, fused = path_on_device(checkpoint, path, options)
    if options.float8 and (fused is None or not fused.float8):
        log.warning("a model runs in 16 bits, though 8 are asked for", extra={"folder": checkpoint.name})
    eight_bits = INT8 if int8 else FP8 if fused is not None and fused.float8 else None
    encoder = TransformersEncoder(checkpoint, device, eight_bits or name_of(dtype), path, fused)
    joined_layers = 0
    if device.type == "cpu":
        trial = partial(encoder.forward, _trial_sequences(encoder))
        encoder.kernels, joined_layers = accelerate_for_cpu(
            model, dtype, trial, int8=int8, packed=path.packed, native_kernels=native_kernels
        )
    encoder.attention = attention.names_of(model, dtype, encoder.max_tokens)
    facts = {"dtype": encoder.dtype_name, "kernels": encoder.kernels.value, "joined_layers": joined_layers}
    facts |= {"packed": path.packed, "path": path.path.value, "reason": path.reason.value}
    facts |= {"attention": encoder.attention}
    log.info("model loaded", extra={"folder": checkpoint.name, **facts})
    return encoder


def _trial_sequences(encoder: TransformersEncoder) -> list[TokenIds]:
    """Two sequences of tokens that differ."""
    longest = min(encoder.max_tokens, encoder.vocabulary_size, 24)
    return [np.arange(length, dtype=np.int32) for length in (longest, (longest + 1) // 2)]


class TransformersEncoder:
    """Runs a transformers model that is on its device."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        device: torch.device,
        dtype_name: str,
        path: ChosenPath,
        fused: FusedModel | None = None,
    ) -> None:
        self.device = device
        self.max_tokens = checkpoint.max_tokens
        self.path = path
        self.packed = path.packed
        self.kernels = _kernels(device, fused)
        self.attention = attention.OWN
        self.labels = checkpoint.labels
        self.dtype_name = dtype_name
        self.first_position = checkpoint.first_position
        self.vocabulary_size = int(checkpoint.model.config.vocab_size)
        self._model = checkpoint.model
        self._fused = fused
        self._padding_id = checkpoint.model.config.pad_token_id or 0

    @property
    def module(self) -> torch.nn.Module:
        """The model itself, whose weights wrappers move."""
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
        """Compute a batch, or on a GPU queue it; what is returned waits for its logits, in the order given.

        Raises:
            InternalError: a sequence is empty or too long, or holds an id outside the model's vocabulary. On a CUDA
                device such a sequence would break the whole context.
        """
        self.validate(sequences)
        if self.packed:
            batch = pack(self._filled(sequences), self.device, self.first_position)
            pending = copy_to_host(self.compute(batch))
            return lambda: batch.split(pending())[: len(sequences)]
        groups = group_by_length([len(tokens) for tokens in sequences])
        copies = [self._begin_padded([sequences[index] for index in group]) for group in groups]
        return lambda: _in_order(sequences, groups, [copy() for copy in copies])

    def compute(self, batch: PackedBatch) -> torch.Tensor:
        """Compute, or queue, one forward pass of a model that can be packed: logits [total, labels] on the device."""
        if self._fused is not None:
            return self._fused(batch)
        logits: torch.Tensor = self._model(**batch.keywords()).logits[0]
        return logits

    def validate(self, sequences: Sequence[TokenIds]) -> None:
        """Raise InternalError for sequences that the model cannot take."""
        for tokens in sequences:
            if not 0 < len(tokens) <= self.max_tokens:
                raise InternalError(f"a sequence of {len(tokens)} tokens; the model takes 1 to {self.max_tokens}")
        ids = np.concatenate(sequences)
        if ids.min() < 0 or ids.max() >= self.vocabulary_size:
            raise InternalError("a sequence with a token id outside the model's vocabulary")

    def _filled(self, sequences: Sequence[TokenIds]) -> Sequence[TokenIds]:
        """The sequences of a row, with filler up to one of few sizes where oneDNN caches primitives for every size."""
        if self.kernels is not Kernels.ONEDNN:
            return sequences
        return fill(sequences, round_up(sum(len(tokens) for tokens in sequences)), self.max_tokens)

    def _begin_padded(self, sequences: Sequence[TokenIds]) -> HostCopy:
        """Compute, or queue, one group: logits [sequences, longest, labels]."""
        ids, mask = (to_device(each, self.device) for each in pad(sequences, self._padding_id))
        return copy_to_host(self._model(input_ids=ids, attention_mask=mask).logits)


def _kernels(device: torch.device, fused: FusedModel | None) -> Kernels:
    """Those of a model that is not accelerated for a CPU."""
    if device.type != "cuda":
        return Kernels.TORCH
    return Kernels.NVRTC if fused is not None and fused.compiled else Kernels.CUDA


def _in_order(
    sequences: Sequence[TokenIds], groups: Sequence[Sequence[int]], logits: Sequence[npt.NDArray[np.float32]]
) -> list[Logits]:
    """The logits of each sequence from those of its group."""
    found = {
        index: row[: len(sequences[index])]
        for group, rows in zip(groups, logits, strict=True)
        for index, row in zip(group, rows, strict=True)
    }
    return [found[index] for index in range(len(sequences))]
