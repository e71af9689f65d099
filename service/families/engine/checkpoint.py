"""Checkpoint: a model read from its folder into host memory, before it has a device, and what reading one takes.

Strict: safetensors only, every weight present, none left over; nothing is unpickled and no code of the folder runs.
Does not know how the model is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt
import torch
from transformers import PreTrainedModel
from transformers.modeling_utils import str_to_torch_dtype
from transformers.utils import logging as transformers_logging

from model_store.families.registry import read_object
from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.families.engine.page_input import PageInput

FALLBACK_MAX_TOKENS = 512
"""Longest sequence of a model with relative positions whose folder names no limit."""

LIMITLESS = 1e9
"""Tokens from which a limit counts as none: transformers writes 1e30 for no limit."""
HARMLESS = ("pooler.", "position_ids", "inv_freq")
"""Weights that many checkpoints hold and a token classifier does not use."""


Weights = dict[str, torch.Tensor]


class Trunk(Protocol):
    """A model that computes hidden states, on its device."""

    @property
    def module(self) -> torch.nn.Module: ...

    def rows(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        """Hidden states of all tokens, end to end."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelTrunk:
    """A model that reads labels. `attach`: called with that model once it is on its device."""

    checkpoint: Checkpoint
    attach: Callable[[Trunk], None]


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A model in host memory, in inference mode, and its properties.

    Attributes:
        first_position: first position id: 0, or the padding index + 1 in the RoBERTa family.
        max_tokens: most tokens of one sequence, special tokens included.
        labels: label names by class index; none where labels are free.
        head: makes scores of hidden states; `model` is then only its trunk.
        label_trunks: other models that read labels for the head: one or none.
        page: how boxes and pictures enter it; None where its tokens have ids alone.
    """

    folder: Path
    model: PreTrainedModel
    first_position: int
    max_tokens: int
    labels: tuple[str, ...] = ()
    head: torch.nn.Module | None = None
    label_trunks: tuple[LabelTrunk, ...] = ()
    page: PageInput | None = None

    @property
    def name(self) -> str:
        """The folder's name, for log lines."""
        return self.folder.name

    @property
    def label_tokens(self) -> int:
        """Most tokens of a label that a model of its own reads; 0 where none does."""
        return max((each.checkpoint.max_tokens for each in self.label_trunks), default=0)

    @property
    def embeddings(self) -> int | None:
        """Number of tokens that the model has embeddings for; None if unknown."""
        try:
            table = self.model.get_input_embeddings()
        except (AttributeError, NotImplementedError):
            return None
        return getattr(table, "num_embeddings", None)

    @property
    def weight_bytes(self) -> int:
        return parameter_bytes(self.model) + (0 if self.head is None else parameter_bytes(self.head))


def to_device(array: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """A copy on the device, behind what is queued there; on a CPU the array itself."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor


def parameter_bytes(model: torch.nn.Module) -> int:
    return sum(each.numel() * each.element_size() for each in model.parameters())


def first_position(model: PreTrainedModel) -> int:
    """Read the first position id of a model."""
    table = _position_table(model)
    return 0 if table is None or table.padding_idx is None else table.padding_idx + 1


def max_tokens(model: PreTrainedModel, folder: Path) -> int:
    """Read the lesser of the model's and the tokenizer's limit of tokens."""
    limit = _limit(getattr(model.config, "max_position_embeddings", None)) or FALLBACK_MAX_TOKENS
    tokenizer = read_object(folder / "tokenizer_config.json")
    return min(limit - first_position(model), _limit(tokenizer.get("model_max_length")) or limit)


def _position_table(model: PreTrainedModel) -> torch.nn.Embedding | None:
    for name, module in model.named_modules():
        if name.endswith(".position_embeddings") and isinstance(module, torch.nn.Embedding):
            return module
    return None


def _limit(said: object) -> int | None:
    """Read a limit; None for no limit, such as -1 or a huge number."""
    return int(said) if isinstance(said, int | float) and 1 <= said < LIMITLESS else None


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Raise ModelError for whatever safetensors and transformers raise."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"the folder {folder.name} cannot be loaded: {first_line(error)}") from error


def read_tensor(file: Any, name: str, *, hollow: bool) -> torch.Tensor:
    """Read a tensor of an open safetensors file; a hollow one has its shape and format, and takes no memory."""
    if not hollow:
        tensor: torch.Tensor = file.get_tensor(name)
        return tensor
    said = file.get_slice(name)
    return torch.zeros((), dtype=str_to_torch_dtype.get(said.get_dtype(), torch.float32)).expand(said.get_shape())


def stored_precision(weights: Weights) -> torch.dtype:
    """The precision of a folder's weights, in which hollow ones are not copied."""
    return next((each.dtype for each in weights.values() if each.is_floating_point()), torch.float32)


def require_complete(folder: Path, model: PreTrainedModel, report: dict[str, Any]) -> None:
    """Raise ModelError for a model that lacks a weight, or whose folder has an unused one."""
    missing, unexpected = (
        sorted(key for key in report[name] if not any(word in key for word in HARMLESS))
        for name in ("missing_keys", "unexpected_keys")
    )
    mismatched = sorted(
        f"{name} ({[*there]}, where the configuration asks for {[*asked]})"
        for name, there, asked in report["mismatched_keys"]
    )
    if missing and not any(key.startswith(f"{model.base_model_prefix}.") for key in missing):
        raise ModelError(f"the folder {folder.name} has no token classification head (missing: {_some(missing)})")
    for what, keys in (("missing", missing), ("unexpected", unexpected), ("of another shape", mismatched)):
        if keys:
            raise ModelError(f"the folder {folder.name} does not fit its config.json: weights {what}: {_some(keys)}")


def _some(keys: list[str]) -> str:
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return ", ".join(keys[:3]) + more


def first_line(error: Exception) -> str:
    """Shorten an error to the first line of its text."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence transformers' warnings and progress bars while a model loads; real problems are raised."""
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(transformers_logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()
