"""Checkpoint reader: reads a token classifier from a Hugging Face folder into host memory, before it has a device.

Strict: safetensors only, every weight present, none left over; nothing is unpickled and no code of the folder runs.
Does not know how the model is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import AutoModelForTokenClassification, PreTrainedModel
from transformers.utils import logging as transformers_logging

from service.core.errors import ModelError
from service.text.words.word_tokenizer import WordTokenizer

FALLBACK_MAX_TOKENS = 512
"""Longest sequence of a model with relative positions whose folder names no limit."""

LIMITLESS = 1e9
"""Tokens from which a limit counts as none: transformers writes 1e30 for no limit."""
HARMLESS = ("pooler.", "position_ids", "inv_freq")
"""Weights that many checkpoints hold and a token classifier does not use."""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A model in host memory, in inference mode, and its properties.

    Attributes:
        first_position: first position id: 0, or the padding index + 1 in the RoBERTa family.
        max_tokens: most tokens of one sequence, special tokens included.
        head: head of a model with free labels; `model` is then only its trunk.
        label_trunk: the model that reads the labels, if that is another.
        words: the tokenizer of a model with free labels.
    """

    folder: Path
    model: PreTrainedModel
    first_position: int
    max_tokens: int
    head: torch.nn.Module | None = None
    label_trunk: Checkpoint | None = None
    words: WordTokenizer | None = None

    @property
    def name(self) -> str:
        """The folder's name, for log lines."""
        return self.folder.name

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names by class index; none where labels are free."""
        if self.head is not None:
            return ()
        names: dict[int, str] = self.model.config.id2label
        return tuple(names[index] for index in range(len(names)))

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


def read_checkpoint(folder: Path, dtype: torch.dtype, *, int8: bool = False) -> Checkpoint:
    """Read the folder's token classifier.

    Args:
        dtype: format of the weights in memory.
        int8: read the weights in float32 instead, to be quantised later.

    Raises:
        ModelError: the folder is no complete token classifier; the detail is one sentence with the reason.
    """
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"the folder {folder.name} has no safetensors weights")
    try:
        _check_layers(folder)
        with quiet_transformers():
            model, report = AutoModelForTokenClassification.from_pretrained(
                folder,
                dtype=torch.float32 if int8 else dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except ModelError:
        raise
    except Exception as error:  # transformers raises whatever its many loaders meet.
        raise ModelError(f"the folder {folder.name} cannot be loaded: {first_line(error)}") from error
    require_complete(folder, model, report)
    model.eval().requires_grad_(False)
    return Checkpoint(folder, model, first_position(model), max_tokens(model, folder))


LAYER_COUNTS = ("num_hidden_layers", "num_layers", "n_layers", "n_layer", "encoder_layers", "num_decoder_layers")
"""Names of the number of layers in a config.json."""


def _check_layers(folder: Path) -> None:
    """Refuse a folder with fewer weights than layers, since all layers would be built before that is noticed."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="pt") as opened:
            weights += len(opened.keys())
    layers = max((config[name] for name in LAYER_COUNTS if isinstance(config.get(name), int)), default=0)
    if layers > weights:
        raise ModelError(f"the folder {folder.name} does not fit its config.json: {layers} layers of {weights} weights")


def parameter_bytes(model: torch.nn.Module) -> int:
    return sum(each.numel() * each.element_size() for each in model.parameters())


def first_position(model: PreTrainedModel) -> int:
    """Read the first position id of a model."""
    table = _position_table(model)
    return 0 if table is None or table.padding_idx is None else table.padding_idx + 1


def max_tokens(model: PreTrainedModel, folder: Path) -> int:
    """Read the lesser of the model's and the tokenizer's limit of tokens."""
    limit = _limit(getattr(model.config, "max_position_embeddings", None)) or FALLBACK_MAX_TOKENS
    return min(limit - first_position(model), _tokenizer_limit(folder) or limit)


def _position_table(model: PreTrainedModel) -> torch.nn.Embedding | None:
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            return module
    return None


def _tokenizer_limit(folder: Path) -> int | None:
    try:
        limit = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")).get("model_max_length")
    except (OSError, ValueError):
        return None
    return _limit(limit)


def _limit(said: object) -> int | None:
    """Read a limit; None for no limit, such as -1 or a huge number."""
    return int(said) if isinstance(said, int | float) and 1 <= said < LIMITLESS else None


def require_complete(folder: Path, model: PreTrainedModel, report: dict[str, Any]) -> None:
    """Raise ModelError for a model that lacks a weight, or whose folder has an unused one."""
    missing = sorted(report["missing_keys"])
    unexpected = sorted(key for key in report["unexpected_keys"] if not any(word in key for word in HARMLESS))
    mismatched = sorted(str(key) for key in report["mismatched_keys"])
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
