"""Encoder of a Hugging Face checkpoint: runs a token classifier on lists of token ids and returns its logits.

Owns loading and one forward pass. Knows no documents, queues or memory limits.

On a CPU OpenVINO computes a model in padded groups (converted_model.py); on a GPU torch does, in packed rows. A model
that does not follow transformers' attention interface accepts packed attention's name without an error, then mixes the
sequences of a packed row. So each model is checked at load (path_selection.py). torch runs a model that fails its check
padded, or, if padding changes its logits, in rows of equal length or one by one: slower, and correct.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
import torch

from model_store.families.registry import family_name
from service.core.arrays import BOXED, Logits, TokenIds, ids_in
from service.core.errors import InternalError
from service.core.labels.marking import text_part, unmarked
from service.engine.device.selection import name_of
from service.engine.encoder.converted_model import NotConverted, convert
from service.engine.encoder.forward_path import CONVERTED, ChosenPath, Kernels
from service.engine.encoder.packed_batch import copy_to_host, pack
from service.engine.encoder.packed_model import ComputeRows, names_of, set_packed
from service.engine.encoder.padded_rows import CPU, LONGEST_TOKENS, padded_rows, path_of_rows, refuse_blind
from service.engine.encoder.path_selection import dtype_that_runs, path_on_gpu, path_on_host
from service.families.engine.checkpoint import Checkpoint

Compute = Callable[[Sequence[TokenIds]], torch.Tensor]

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
    checkpoint = read_checkpoint(folder, reading_dtype(device, dtype))
    return build_encoder(checkpoint, device, dtype, int8=int8, known=known)


def reading_dtype(device: torch.device, dtype: torch.dtype) -> torch.dtype:
    """Choose the precision to read weights in: on a CPU float32, which OpenVINO converts to its own."""
    return torch.float32 if device.type == "cpu" else dtype


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


def read_checkpoint(folder: Path, dtype: torch.dtype, *, hollow: bool = False) -> Checkpoint:
    """Read a folder's model, in the way of its family.

    Args:
        dtype: precision to read the weights in.
        hollow: read names, shapes and formats of the weights alone.

    Raises:
        ModelError: the folder is no complete model of its family; the detail is one sentence with the reason.
    """
    family = import_module(f"service.families.{family_name(folder)}.engine.reading")
    return cast(Checkpoint, family.read(folder, dtype, hollow=hollow))


def build_encoder(
    checkpoint: Checkpoint,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool = False,
    known: ChosenPath | None = None,
    as_on_gpu: bool = False,
    longest_tokens: int = LONGEST_TOKENS,
) -> TransformersEncoder:
    """Move a checkpoint's model to a device, on the fastest path that computes its logits there.

    Args:
        checkpoint: its model becomes the encoder's.
        int8: on a CPU, let products compute in 8-bit integers, and only the rest in `dtype`.
        known: path of a model of the same configuration on this device, for which the checks on the host are left
            out; None runs them.
        as_on_gpu: on a CPU, let torch run it in rows as on a GPU, to measure their memory.
        longest_tokens: length of the longest sequence to come, if the model takes it.
    """
    refuse_blind(checkpoint)
    longest = min(longest_tokens, checkpoint.max_tokens, LONGEST_TOKENS)
    if known is None and (device.type == "cuda" or as_on_gpu):
        known = path_on_host(checkpoint, longest)
    if device.type == "cuda":
        assert known is not None
        encoder = _on_gpu(checkpoint, device, dtype, known, longest)
    else:
        encoder = _on_cpu(checkpoint, dtype, known, longest, int8=int8)
    for trunk in checkpoint.label_trunks:
        labels_encoder = build_encoder(
            trunk.checkpoint, device, dtype, int8=int8, as_on_gpu=as_on_gpu, longest_tokens=longest_tokens
        )
        trunk.attach(labels_encoder)
    facts = {
        "folder": checkpoint.name,
        "dtype": encoder.dtype_name,
        "kernels": encoder.kernels.value,
        "attention": encoder.attention,
        "packed": encoder.path.packed,
        "path": encoder.path.path.value,
        "reason": encoder.path.reason.value,
    }
    log.info("model loaded", extra=facts)
    return encoder


def _on_gpu(
    checkpoint: Checkpoint, device: torch.device, dtype: torch.dtype, path: ChosenPath, longest: int
) -> TransformersEncoder:
    checkpoint.model.to(device)
    dtype, cause = dtype_that_runs(checkpoint, dtype)
    path, compute = path_on_gpu(checkpoint, path, longest)
    return _by_torch(checkpoint, path, compute, dtype, cause, longest)


def _on_cpu(
    checkpoint: Checkpoint, dtype: torch.dtype, known: ChosenPath | None, longest: int, *, int8: bool
) -> TransformersEncoder:
    path = known
    if path is None or path == CONVERTED:
        try:
            converted, cause = convert(checkpoint, dtype, longest, int8=int8, known=path is not None)
        except NotConverted as error:
            log.warning("a model stays with torch", extra={"folder": checkpoint.name, "reason": str(error)})
            path = path_of_rows(checkpoint, error.reason, longest)
        else:
            attention = Kernels.OPENVINO.value
            return TransformersEncoder(checkpoint, CPU, CONVERTED, converted, attention, converted.dtype_name, cause)
    checkpoint.model.to(dtype)
    dtype, cause = dtype_that_runs(checkpoint, dtype)
    if int8 and not cause:
        cause = "torch computes no 8-bit integers"
    packed = set_packed(checkpoint.model) if path.packed else None
    return _by_torch(checkpoint, path, packed, dtype, cause, longest)


def _by_torch(
    checkpoint: Checkpoint, path: ChosenPath, packed: ComputeRows | None, dtype: torch.dtype, cause: str, longest: int
) -> TransformersEncoder:
    """Make the encoder of a model on its device, which torch runs in `dtype`; `cause`: why not in another one."""
    model, device = checkpoint.model, checkpoint.model.device

    def packed_rows(sequences: Sequence[TokenIds]) -> torch.Tensor:
        assert packed is not None
        return packed(pack(sequences, device, checkpoint.first_position, checkpoint.page))

    compute = padded_rows(checkpoint, path.path, longest) if packed is None else packed_rows
    attention = names_of(model, dtype, checkpoint.max_tokens)
    return TransformersEncoder(checkpoint, device, path, compute, attention, name_of(dtype), cause)


class TransformersEncoder:
    """Runs a transformers model that is on its device.

    Args:
        compute: computes, or queues, a batch: all tokens' logits, or a trunk's states, end to end on the device.

    Attributes:
        kernels, attention: names of the code that computes it, as in `/models`.
        dtype_name, dtype_reason: precision of the computation, and why it is not the requested one.
        module: the model with its head, if any; a converted model has no weights there, as OpenVINO has them.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        device: torch.device,
        path: ChosenPath,
        compute: Compute,
        attention: str,
        dtype_name: str,
        dtype_reason: str,
    ) -> None:
        self.device, self.path, self.attention = device, path, attention
        self.kernels = Kernels.CUDA if device.type == "cuda" else Kernels.TORCH
        if path == CONVERTED:
            self.kernels = Kernels.OPENVINO
        self.dtype_name, self.dtype_reason = dtype_name, dtype_reason
        self.max_tokens, self.labels, self.page = checkpoint.max_tokens, checkpoint.labels, checkpoint.page
        self._compute = compute
        self._vocabulary_size = int(checkpoint.model.config.vocab_size)
        self._head = None if checkpoint.head is None else checkpoint.head.to(device)
        self.module: torch.nn.Module = checkpoint.model
        if self._head is not None:
            self.module = torch.nn.ModuleDict({"trunk": checkpoint.model, "head": self._head})

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Compute a batch and wait for each sequence's logits, [tokens, labels] float32, in order; raises as `begin`.

        With a head, sequences are marked: it gives scores of their words, [words, columns].
        """
        return self.begin(sequences)()

    @torch.inference_mode()
    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Compute a batch, or on a GPU queue it; the returned function waits for each sequence's logits, in order.

        Raises:
            InternalError: a sequence is empty or too long, holds an id outside the model's vocabulary, or boxes
                or a picture that the model cannot take. On a CUDA device it would break the whole context.
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

    @torch.inference_mode()
    def rows(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        """Compute, or queue, a batch: all tokens' logits end to end, on the device; raises as `begin`."""
        self._refuse_others(sequences)
        return self._compute(sequences)

    def _refuse_others(self, sequences: Sequence[TokenIds]) -> None:
        """Raise InternalError for sequences that the model cannot take."""
        for tokens in sequences:
            if not 0 < len(tokens) <= self.max_tokens:
                raise InternalError(f"a sequence of {len(tokens)} tokens; the model takes 1 to {self.max_tokens}")
            if tokens.shape[1:] != (() if self.page is None else (BOXED,)):
                raise InternalError("a sequence with boxes for a model that takes none, or without for one that does")
        ids = ids_in(np.concatenate(sequences))
        if ids.min() < 0 or ids.max() >= self._vocabulary_size:
            raise InternalError("a sequence with a token id outside the model's vocabulary")
        if self.page is not None:
            for tokens in sequences:
                self.page.refuse_others(tokens)
