"""Encoder of a Hugging Face checkpoint: runs a token classifier on lists of token ids and returns its logits.

Owns loading and one forward pass. Knows no documents, queues or memory limits.

A model that does not follow transformers' attention interface accepts packed attention's name without an error, then
mixes the sequences of a packed row. So each model is checked at load (path_selection.py). One that fails is run
padded, or, if padding changes its logits, in rows of equal length or one by one: slower, and correct.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import cast

import numpy as np
import torch

from model_store.families.registry import family_name
from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.core.labels.marking import text_part, unmarked
from service.engine.device.selection import INT8, name_of
from service.engine.encoder import attention
from service.engine.encoder.attention_backends import register_packed_attention
from service.engine.encoder.cpu_linear import Kernels, accelerate_for_cpu, weight_bytes
from service.engine.encoder.forward_path import ChosenPath
from service.engine.encoder.model_state import changes_itself, state_kept
from service.engine.encoder.packed_batch import (
    PackedBatch,
    copy_to_host,
    fill,
    pack,
    round_up,
)
from service.engine.encoder.packed_model import ComputeRows, names_of
from service.engine.encoder.padded_rows import LONGEST_TOKENS, group_rows, read_segments, run_padded
from service.engine.encoder.path_selection import dtype_that_runs, logits_are_finite, path_on_device, path_on_host
from service.families.engine.checkpoint import Checkpoint

log = logging.getLogger(__name__)


def load_encoder(
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    known: ChosenPath | None = None,
) -> TransformersEncoder:
    """Read a folder's checkpoint and build its encoder; arguments as for `build_encoder`.

    Raises:
        ModelError: the folder is no complete model with safetensors weights.
    """
    return build_encoder(read_checkpoint(folder, dtype, int8=int8), device, dtype, int8=int8, known=known)


def refuse_unloadable(folder: Path, names: Iterable[str]) -> None:
    """Raise ModelError where a model of these files of a folder would not load: by the weights' names and shapes alone.

    So it takes a second or two and next to no memory, however large the model is.
    """
    with TemporaryDirectory() as place:
        published = Path(place) / folder.resolve().name
        for name in names:
            link = published / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to((folder / name).resolve())
        read_checkpoint(published, torch.float32, hollow=True)


def read_checkpoint(folder: Path, dtype: torch.dtype, *, int8: bool = False, hollow: bool = False) -> Checkpoint:
    """Read a folder's model, in the way of its family.

    Args:
        dtype: precision to read the weights in.
        int8: read them in float32 instead, since they are still to be quantised.
        hollow: read names, shapes and formats of the weights alone.

    Raises:
        ModelError: the folder is no complete model of its family; the detail is one sentence with the reason.
    """
    family = import_module(f"service.families.{family_name(folder)}.engine.reading")
    return cast(Checkpoint, family.read(folder, dtype, int8=int8, hollow=hollow))


def build_encoder(
    checkpoint: Checkpoint,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    known: ChosenPath | None = None,
    longest_tokens: int = LONGEST_TOKENS,
) -> TransformersEncoder:
    """Move a checkpoint's model to a device, choose its forward path, and accelerate it on a CPU.

    Args:
        checkpoint: its model becomes the encoder's.
        int8: let linear layers compute in 8-bit integers, and only the rest in `dtype`.
        known: path of a model of the same configuration on this device, for which the checks on the host are left
            out; None runs them.
        longest_tokens: length of the longest sequence to come, if the model takes it.
    """
    model = checkpoint.model
    register_packed_attention()
    path = path_on_host(checkpoint, device, longest_tokens) if known is None else known
    model.to(device)
    cause = ""
    if device.type == "cuda":
        dtype, cause = dtype_that_runs(checkpoint, dtype, partial(logits_are_finite, checkpoint))
    path, compute = path_on_device(checkpoint, path, longest_tokens)
    encoder = TransformersEncoder(checkpoint, device, path, compute)
    if device.type == "cpu":
        trial = partial(_run_trial, encoder)
        kernels = accelerate_for_cpu(model, dtype, trial, int8=int8)
        dtype, cause = dtype_that_runs(checkpoint, dtype, lambda: bool(trial()))  # bfloat16 does not overflow.
        encoder.kernels = Kernels.TORCH if cause and not int8 else kernels
    encoder.dtype_name, encoder.dtype_reason = INT8 if int8 else name_of(dtype), cause
    if not path.packed:
        longest = min(encoder.max_tokens, longest_tokens, LONGEST_TOKENS)
        trial = partial(encoder.forward, [*_trial_sequences(encoder), np.zeros(longest, dtype=np.int32)])
        encoder.changes_itself = changes_itself(model, trial)
    encoder.attention = names_of(model, dtype, encoder.max_tokens)
    if checkpoint.head is not None:
        encoder.attach(checkpoint.head)
    for trunk in checkpoint.label_trunks:
        trunk.attach(build_encoder(trunk.checkpoint, device, dtype, int8=int8, longest_tokens=longest_tokens))
    facts = {
        "folder": checkpoint.name,
        "dtype": encoder.dtype_name,
        "kernels": encoder.kernels.value,
        "attention": encoder.attention,
        "packed": path.packed,
        "path": path.path.value,
        "reason": path.reason.value,
    }
    log.info("model loaded", extra=facts)
    return encoder


def _trial_sequences(encoder: TransformersEncoder) -> list[TokenIds]:
    """Make two sequences of different tokens."""
    longest = min(encoder.max_tokens, encoder.vocabulary_size, 24)
    return [np.arange(length, dtype=np.int32) for length in (longest, (longest + 1) // 2)]


def _run_trial(encoder: TransformersEncoder) -> list[Logits]:
    """Compute the trial sequences; the model stays as it was."""
    with state_kept(encoder.module):
        return encoder.forward(_trial_sequences(encoder))


class TransformersEncoder:
    """Runs a transformers model that is on its device."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        device: torch.device,
        path: ChosenPath,
        compute: ComputeRows | None = None,
    ) -> None:
        self.device = device
        self.max_tokens = checkpoint.max_tokens
        self.path = path
        self.packed = path.packed
        self.kernels = Kernels.CUDA if device.type == "cuda" else Kernels.TORCH
        self.attention = attention.OWN
        self.labels = checkpoint.labels
        self.dtype_name = self.dtype_reason = ""
        self._segments = None if path.packed else read_segments(checkpoint)
        self.first_position = checkpoint.first_position
        self.vocabulary_size = int(checkpoint.model.config.vocab_size)
        self._model = checkpoint.model
        self._compute = compute
        self._head: torch.nn.Module | None = None
        self._module: torch.nn.Module = self._model
        self.changes_itself = False
        self._one_pass = Lock()

    @property
    def module(self) -> torch.nn.Module:
        """The model with its head, if any; wrappers move its weights."""
        return self._module

    @property
    def parameter_bytes(self) -> int:
        return weight_bytes(self._module)

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Compute a batch and wait for each sequence's logits, [tokens, labels] float32, in order; raises as `begin`.

        With a head, sequences are marked: it gives scores of their words, [words, columns].
        """
        return self.begin(sequences)()

    @torch.inference_mode()
    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Compute a batch, or on a GPU queue it; the returned function waits for each sequence's logits, in order.

        Raises:
            InternalError: a sequence is empty or too long, or holds an id outside the model's vocabulary. On a CUDA
                device such a sequence would break the whole context.
        """
        if self._head is None:
            scores = self.rows(sequences)
            shapes = [(len(tokens), scores.shape[1]) for tokens in sequences]
        else:
            parts = self._head(self.rows([unmarked(text_part(tokens)) for tokens in sequences]), sequences)
            scores = torch.cat([part.flatten() for part in parts])
            shapes = [(len(part), part.shape[1]) for part in parts]
        pending = copy_to_host(scores)

        def wait() -> list[Logits]:
            numbers = pending().reshape(-1)
            borders = accumulate((rows * columns for rows, columns in shapes), initial=0)
            return [numbers[a:b].reshape(shape) for (a, b), shape in zip(pairwise(borders), shapes, strict=True)]

        return wait

    def attach(self, head: torch.nn.Module) -> None:
        """Return this head's scores from now on: the model is its trunk, and gives hidden states in place of logits."""
        self._head = head.to(self.device)
        self._module = torch.nn.ModuleDict({"trunk": self._model, "head": self._head})

    @torch.inference_mode()
    def rows(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        """Compute, or queue, a batch: all tokens' logits end to end, on the device; raises as `begin`."""
        self.validate(sequences)
        if self.packed:
            batch = pack(self._filled(sequences), self.device, self.first_position)
            return self.compute(batch)[: batch.borders[len(sequences)]]
        groups = group_rows([len(tokens) for tokens in sequences], self.path.path)
        found: dict[int, torch.Tensor] = {}
        for group in groups:
            found.update(zip(group, self._run_rows([sequences[index] for index in group]), strict=True))
        return torch.cat([found[index][: len(tokens)] for index, tokens in enumerate(sequences)])

    def compute(self, batch: PackedBatch) -> torch.Tensor:
        """Compute, or queue, one forward pass of a model that can be packed: logits [total, labels] on the device."""
        assert self._compute is not None
        return self._compute(batch)

    def validate(self, sequences: Sequence[TokenIds]) -> None:
        """Raise InternalError for sequences that the model cannot take."""
        for tokens in sequences:
            if not 0 < len(tokens) <= self.max_tokens:
                raise InternalError(f"a sequence of {len(tokens)} tokens; the model takes 1 to {self.max_tokens}")
        ids = np.concatenate(sequences)
        if ids.min() < 0 or ids.max() >= self.vocabulary_size:
            raise InternalError("a sequence with a token id outside the model's vocabulary")

    def _filled(self, sequences: Sequence[TokenIds]) -> Sequence[TokenIds]:
        """Fill a row up to one of few sizes where oneDNN caches primitives for every size."""
        if self.kernels is not Kernels.ONEDNN:
            return sequences
        return fill(sequences, round_up(sum(len(tokens) for tokens in sequences)), self.max_tokens)

    def _run_rows(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        """Compute, or queue, one group: logits [sequences, longest, labels]."""
        if not self.changes_itself:
            return run_padded(self._model, sequences, self._segments)
        with self._one_pass, state_kept(self._model):
            return run_padded(self._model, sequences, self._segments)
