"""Padded rows: the forward pass of a model that is not packed, and the check at load that its rows stay apart.

An attention mask hides padding from attention alone. Convolutions, Fourier transforms and pooling mix neighbours all
the same, and some models choose their attention by a batch's length, so a row's logits could change with others of
its batch. In float32 a row beside others must have the same logits as alone, up to rounding; else only rows of
equal length share a batch, and if those differ too, each row is a batch.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from threading import Lock

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel

from model_store.families.registry import read_object
from service.core.arrays import TokenIds, ids_in
from service.core.errors import ModelError
from service.core.sequences import with_picture
from service.engine.encoder import attention
from service.engine.encoder.forward_path import ChosenPath, ForwardPath, PathReason
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.model_state import changes_itself, state_kept
from service.engine.encoder.packing_check import FLOAT32_TOLERANCE, LAYERS, LENGTHS, example_sequences, in_float32
from service.engine.execution.encoder_wrappers import padded_length
from service.families.engine.checkpoint import Checkpoint, to_device
from service.families.engine.page_input import PageInput, PictureInput, example
from service.text.tokenizer import TOKENIZER_FILE, vocabulary_of

LONGEST_TOKENS = 2_048
"""Most tokens of a row in the check: attention without a kernel of its own takes memory by the square of the length."""
TRIAL_LENGTHS = (24, 12)
"""Tokens of sequences, besides the longest, by which a model that changes itself as it runs is found."""
PADDING_SHARE = 0.1
"""Largest share of a group's tokens that may be padding."""

CPU = torch.device("cpu")

log = logging.getLogger(__name__)


def group_rows(lengths: Sequence[int], path: ForwardPath) -> list[list[int]]:
    """Group sequences, by index, into the batches that a path allows, longest first."""
    if path is ForwardPath.SINGLE:
        return [[index] for index in range(len(lengths))]
    share = PADDING_SHARE if path is ForwardPath.PADDED else 0.0
    groups: list[list[int]] = []
    filled_tokens = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        filled_tokens += lengths[index]
        if groups and filled_tokens >= (1 - share) * lengths[groups[-1][0]] * (len(groups[-1]) + 1):
            groups[-1].append(index)
        else:
            groups.append([index])
            filled_tokens = lengths[index]
    return groups


def pad(
    sequences: Sequence[TokenIds], padding_id: int, step: int = 1
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pad sequences: token ids and attention mask, each [sequences, longest], the longest rounded up to a `step`."""
    lengths = [len(tokens) for tokens in sequences]
    longest = padded_length(max(lengths), step)
    ids = np.full((len(sequences), longest), padding_id, dtype=np.int64)
    for row, tokens in zip(ids, sequences, strict=True):
        row[: len(tokens)] = ids_in(tokens)
    mask = np.arange(longest) < np.asarray(lengths)[:, None]
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
    names = read_object(checkpoint.folder / "tokenizer_config.json").get("model_input_names")
    if isinstance(names, list) and "token_type_ids" not in names:
        return None
    before, text, after = vocabulary_of(checkpoint.folder / TOKENIZER_FILE).segments
    largest = max(*before, text, *after, 0)
    if isinstance(sizes, int) and largest >= sizes:
        raise ModelError(f"the tokenizer gives a segment id {largest}, and the model embeddings for {sizes} alone")
    return Segments(before, text, after) if largest else None


def padded_inputs(
    sequences: Sequence[TokenIds],
    padding_id: int,
    segments: Segments | None,
    page: PageInput | None,
    *,
    step: int = 1,
    device: torch.device = CPU,
    dtype: torch.dtype = torch.float32,
) -> dict[str, torch.Tensor]:
    """Make the keywords of a forward call for one padded batch, on a device; `step` as for `pad`, `dtype` of pictures.

    A picture is normalised there: its bytes are a quarter of its numbers.
    """
    ids, mask = pad(sequences, padding_id, step)
    found = {"input_ids": to_device(ids, device), "attention_mask": to_device(mask, device)}
    if segments is not None:
        kinds, _ = pad([segments.of(len(tokens)) for tokens in sequences], 0, step)
        found["token_type_ids"] = to_device(kinds, device)
    if page is not None:
        found["bbox"] = to_device(page.padded_boxes(sequences, ids.shape[1]), device)
        if page.picture is not None:
            found["pixel_values"] = _normalised(page.picture, to_device(page.picture.of(sequences), device)).to(dtype)
    return found


def _normalised(picture: PictureInput, pixels: torch.Tensor) -> torch.Tensor:
    """Bytes [sequences, 3, side, side] → float32 of the same shape, as a model takes them."""
    mean, deviation = (
        torch.tensor(each, device=pixels.device).view(3, 1, 1) for each in (picture.mean, picture.deviation)
    )
    return pixels.float().mul_(picture.factor).sub_(mean).div_(deviation)


def run_padded(
    model: PreTrainedModel,
    sequences: Sequence[TokenIds],
    segments: Segments | None = None,
    page: PageInput | None = None,
) -> torch.Tensor:
    """Compute, or queue, one batch: logits [sequences, longest, labels] on the device."""
    padding_id = model.config.pad_token_id or 0
    given = padded_inputs(sequences, padding_id, segments, page, device=model.device, dtype=model.dtype)
    logits: torch.Tensor = model(**given).logits
    return logits


class PaddedRows:
    """Computes sequences in the groups that a model's path allows.

    Attributes:
        changes_model: True if a pass changes the model, whose state is then restored after each.
    """

    def __init__(self, checkpoint: Checkpoint, path: ForwardPath) -> None:
        self.changes_model = False
        self._model, self._page, self._path = checkpoint.model, checkpoint.page, path
        self._segments = read_segments(checkpoint)
        self._one_pass = Lock()

    @torch.inference_mode()
    def __call__(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        """Compute, or queue, a batch: all tokens' logits end to end, on the device."""
        found: dict[int, torch.Tensor] = {}
        for group in group_rows([len(tokens) for tokens in sequences], self._path):
            found.update(zip(group, self._run([sequences[index] for index in group]), strict=True))
        return torch.cat([found[index][: len(tokens)] for index, tokens in enumerate(sequences)])

    def _run(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        if not self.changes_model:
            return run_padded(self._model, sequences, self._segments, self._page)
        with self._one_pass, state_kept(self._model):
            return run_padded(self._model, sequences, self._segments, self._page)


def padded_rows(checkpoint: Checkpoint, path: ForwardPath, longest: int) -> PaddedRows:
    """Make the computation of a model on its device, and find by a trial whether a pass changes the model.

    Args:
        longest: tokens of the longest sequence to try.
    """
    rows = PaddedRows(checkpoint, path)
    trial = [example(np.zeros(length, dtype=np.int32), checkpoint.page) for length in (*TRIAL_LENGTHS, longest)]
    rows.changes_model = changes_itself(checkpoint.model, partial(rows, trial))
    return rows


def path_of_rows(checkpoint: Checkpoint, reason: PathReason, longest: int) -> ChosenPath:
    """Choose the fastest path of a model that is not packed, for this reason; it keeps its own attention.

    Args:
        longest: tokens of the longest sequence to try.
    """
    model = checkpoint.model
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
            together = run_padded(model, sequences, page=checkpoint.page).float()
        for row, tokens in zip(together, sequences, strict=True):
            with state_kept(model):
                alone = run_padded(model, [tokens], page=checkpoint.page)[0].float()
            scale = max(1.0, float(alone.abs().max()))
            if not float((row[: len(tokens)] - alone).abs().max()) <= FLOAT32_TOLERANCE * scale:
                return False
    except Exception as error:  # A model that fails on several rows can still be run row by row.
        log.info("the model cannot run rows together", extra={"reason": f"{type(error).__name__}: {error}"})
        return False
    return True


@torch.inference_mode()
def refuse_blind(checkpoint: Checkpoint) -> None:
    """Raise ModelError for a model that should see boxes or pictures, and whose logits do not change with them."""
    if checkpoint.page is None:
        return
    model, page = checkpoint.model, checkpoint.page
    (tokens,) = example_sequences(checkpoint, [min(min(LENGTHS), checkpoint.max_tokens)])
    one, other = (example(ids_in(tokens), page, seed) for seed in (0, 1))
    tried = [one, other]
    if page.picture is not None:
        pictures = page.picture.of(tried)
        tried = [one, with_picture(other, pictures[0]), with_picture(one.copy(), pictures[1])]
    with first_layers_only(model, LAYERS), in_float32(model), state_kept(model):
        own, *others = (run_padded(model, [each], page=page) for each in tried)
    for seen, each in zip(("boxes", "pictures"), others, strict=False):
        if torch.equal(each, own):
            raise ModelError(f"the model in the folder {checkpoint.name} does not see {seen}: they change no score")
