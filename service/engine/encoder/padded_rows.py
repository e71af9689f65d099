"""Padded rows: the forward pass of a model that cannot be packed, and the check at load that its rows stay apart.

An attention mask hides padding from attention alone. Convolutions, Fourier transforms and pooling mix neighbours all
the same, and some models choose their attention by a batch's length, so a row's logits could change with others of
its batch. In float32 a row beside others must have the same logits as alone, up to rounding; else only rows of
equal length share a batch, and if those differ too, each row is a batch.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel

from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.engine.encoder import attention
from service.engine.encoder.forward_path import ChosenPath, ForwardPath, PathReason
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.model_state import state_kept
from service.engine.encoder.packing_check import FLOAT32_TOLERANCE, LAYERS, LENGTHS, example_sequences, in_float32
from service.families.engine.checkpoint import Checkpoint, to_device
from service.text.tokenizer import TOKENIZER_FILE, vocabulary_of

PADDING_SHARE = 0.1
"""Largest share of a padded group's tokens that may be padding."""
LONGEST_TOKENS = 2_048
"""Most tokens of a row in the check: attention without a kernel of its own takes memory by the square of the length."""

log = logging.getLogger(__name__)


def group_rows(lengths: Sequence[int], path: ForwardPath) -> list[list[int]]:
    """Group sequences, by index, into the batches that a path allows, longest first."""
    if path is ForwardPath.SINGLE:
        return [[index] for index in range(len(lengths))]
    return group_by_length(lengths, PADDING_SHARE if path is ForwardPath.PADDED else 0.0)


def group_by_length(lengths: Sequence[int], padding_share: float) -> list[list[int]]:
    """Group sequences, by index, into similar lengths; at most `padding_share` of each group is padding."""
    groups: list[list[int]] = []
    filled_tokens = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[groups[-1][0]] if groups else 0
        padded_tokens = longest * (len(groups[-1]) + 1) if groups else 0
        if groups and filled_tokens + lengths[index] >= (1 - padding_share) * padded_tokens:
            groups[-1].append(index)
            filled_tokens += lengths[index]
        else:
            groups.append([index])
            filled_tokens = lengths[index]
    return groups


def pad(sequences: Sequence[TokenIds], padding_id: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pad sequences: token ids and attention mask, each [sequences, longest]."""
    lengths = [len(tokens) for tokens in sequences]
    ids = np.full((len(sequences), max(lengths)), padding_id, dtype=np.int64)
    for row, tokens in zip(ids, sequences, strict=True):
        row[: len(tokens)] = tokens
    mask = np.arange(max(lengths)) < np.asarray(lengths)[:, None]
    return ids, mask.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Segments:
    """Segment ids (`token_type_ids`) of the text, and of the special tokens before and after it."""

    before: tuple[int, ...]
    text: int
    after: tuple[int, ...]

    def of(self, length: int) -> TokenIds:
        """Make the segment ids of a sequence of this length."""
        found = np.full(length, self.text, dtype=np.int32)
        found[: len(self.before)] = self.before[:length]
        found[max(0, length - len(self.after)) :] = self.after[max(0, len(self.after) - length) :]
        return found


def read_segments(checkpoint: Checkpoint) -> Segments | None:
    """Read the segment ids of the folder's tokenizer (XLNet, Funnel); None if the model takes none, or all are 0.

    Raises:
        ModelError: the tokenizer cannot be read, or gives segment ids without an embedding.
    """
    sizes = getattr(checkpoint.model.config, "type_vocab_size", None)
    if sizes == 0 or "token_type_ids" not in signature(checkpoint.model.forward).parameters:
        return None
    with suppress(OSError, ValueError):
        options = json.loads((checkpoint.folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        names = options.get("model_input_names") if isinstance(options, dict) else None
        if isinstance(names, list) and "token_type_ids" not in names:
            return None
    before, text, after = vocabulary_of(checkpoint.folder / TOKENIZER_FILE).segments
    largest = max(*before, text, *after, 0)
    if isinstance(sizes, int) and largest >= sizes:
        raise ModelError(f"the tokenizer gives a segment id {largest}, and the model embeddings for {sizes} alone")
    return Segments(before, text, after) if largest else None


def run_padded(model: PreTrainedModel, sequences: Sequence[TokenIds], segments: Segments | None = None) -> torch.Tensor:
    """Compute, or queue, one batch: logits [sequences, longest, labels] on the device."""
    ids, mask = (to_device(each, model.device) for each in pad(sequences, model.config.pad_token_id or 0))
    more = {}
    if segments is not None:
        types, _ = pad([segments.of(len(tokens)) for tokens in sequences], 0)
        more["token_type_ids"] = to_device(types, model.device)
    logits: torch.Tensor = model(input_ids=ids, attention_mask=mask, **more).logits
    return logits


def path_of_rows(checkpoint: Checkpoint, reason: PathReason, longest_tokens: int) -> ChosenPath:
    """Choose the fastest path of a model that is not packed, for this reason; it keeps its own attention.

    Args:
        longest_tokens: length of the longest sequence to come.
    """
    model = checkpoint.model
    longest = min(longest_tokens, checkpoint.max_tokens, LONGEST_TOKENS)
    short = min(min(LENGTHS), longest)
    batches = [min(length, longest) for length in LENGTHS], [longest, longest - longest // 8, short]
    with attention.own_attention_afterwards(model), first_layers_only(model, LAYERS), in_float32(model):
        if all(_keeps_apart(checkpoint, lengths) for lengths in batches):
            return ChosenPath(ForwardPath.PADDED, reason)
        if all(_keeps_apart(checkpoint, [length] * 2) for length in (short, longest)):
            return ChosenPath(ForwardPath.EQUAL, PathReason.PADDING)
    return ChosenPath(ForwardPath.SINGLE, PathReason.BATCH)


@torch.inference_mode()
def _keeps_apart(checkpoint: Checkpoint, lengths: Sequence[int]) -> bool:
    """True if rows of these lengths have the same logits together as alone."""
    model, sequences = checkpoint.model, example_sequences(checkpoint, lengths)
    try:
        with state_kept(model):
            together = run_padded(model, sequences).float()
        for row, tokens in zip(together, sequences, strict=True):
            with state_kept(model):
                alone = run_padded(model, [tokens])[0].float()
            scale = max(1.0, float(alone.abs().max()))
            if not float((row[: len(tokens)] - alone).abs().max()) <= FLOAT32_TOLERANCE * scale:
                return False
    except Exception as error:  # A model that fails on several rows can still be run row by row.
        log.info("the model cannot run rows together", extra={"reason": f"{type(error).__name__}: {error}"})
        return False
    return True
