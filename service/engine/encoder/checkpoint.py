"""What a Hugging Face folder holds: the model, its labels, its longest sequence, its first position.

Owns the strictness: safetensors only, every weight there, none left over. Does not know how the model is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForTokenClassification, PreTrainedModel
from transformers.utils import logging as transformers_logging

from service.core.errors import ModelError

FALLBACK_MAX_TOKENS = 512
"""For models whose positions are relative and whose folder names no limit."""

HARMLESS = ("pooler.", "position_ids", "inv_freq")
"""Left over in many checkpoints; a token classifier has no use for them."""


def read_model(folder: Path, dtype: torch.dtype) -> PreTrainedModel:
    """The folder's token classifier, for inference, on the CPU.

    Raises:
        ModelError: with one sentence that says what the folder lacks.
    """
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"the folder {folder.name} has no safetensors weights")
    try:
        with _quiet_transformers():
            model, report = AutoModelForTokenClassification.from_pretrained(
                folder,
                dtype=dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except Exception as error:  # transformers raises whatever its many loaders meet.
        raise ModelError(f"the folder {folder.name} cannot be loaded: {_first_line(error)}") from error
    _demand_whole(folder, model, report)
    loaded: PreTrainedModel = model.eval().requires_grad_(False)
    return loaded


def labels(model: PreTrainedModel) -> tuple[str, ...]:
    """Label names by class index."""
    names: dict[int, str] = model.config.id2label
    return tuple(names[index] for index in range(len(names)))


def first_position(model: PreTrainedModel) -> int:
    """What position ids start at: 0, or the padding index + 1 in the RoBERTa family, whose table says so."""
    table = _position_table(model)
    return 0 if table is None or table.padding_idx is None else table.padding_idx + 1


def max_tokens(model: PreTrainedModel, folder: Path) -> int:
    """The longest sequence the model takes, special tokens included; the tokenizer may set a smaller one."""
    limit = getattr(model.config, "max_position_embeddings", None) or FALLBACK_MAX_TOKENS
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
    return int(limit) if limit else None


def _demand_whole(folder: Path, model: PreTrainedModel, report: dict[str, Any]) -> None:
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


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Neither warnings nor progress bars on stderr while a model loads; what matters is raised."""
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
